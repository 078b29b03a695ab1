import type { Address } from '@tollbook/core/address'
import { formatDecimal } from '@tollbook/core/money'
import type { Price } from '@tollbook/core/quote'
import type { CurrencyConfig } from '../../config/currencyConfig.ts'
import type { Dollar } from '../../payment/dollar.ts'
import type { PaymentLifecycle } from '../../payment/paymentLifecycle.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { isDepositPrice } from '../../payment/tabSettlement.ts'
import { usdDecimals } from '../../pricing/priceList.ts'
import type { DollarOffer, Dollars } from '../../rails/sponsored/dollars.ts'
import { shareReading } from '../../transport/shareReading.ts'
import type { PartDeps } from '../partDeps.ts'
import type { Prices } from '../products/prices.ts'

export interface DollarsDeps extends Pick<PartDeps, 'clock'> {
  readonly dollars: readonly Dollar[]
  readonly token: Pick<PaymentTerms, 'mint' | 'decimals'>
  readonly currentPrice: Prices['currentPrice']
  /**
   * Returns why a dollar is not accepted at present: the price or the payment account of its mint. Undefined if it is
   * accepted.
   */
  readonly whyOff: (mint: Address) => string | undefined
  readonly whyNoDeposit: (mint: Address) => string | undefined
  readonly lifecycle: Pick<PaymentLifecycle, 'undeliveredBaseUnits'>
}

// Milliseconds for which offers share one reading of the debt. Promises made within this time may exceed the limit.
const debtAgeMaxMs = 1_000

/**
 * Offers a dollar whose sales burn tokens only while the burn can be promised: the token has a price, and the
 * treasury's debt is within the operator's limit. Undefined if only the token is accepted.
 */
export function openDollars({ burnDebtMaxTokens }: CurrencyConfig, deps: DollarsDeps): Dollars | undefined {
  const { clock, dollars, token, currentPrice, lifecycle } = deps
  if (dollars.length === 0) return undefined
  const maxBaseUnits = BigInt(burnDebtMaxTokens) * 10n ** BigInt(token.decimals)
  const debts = new Map<Address, () => Promise<bigint>>()
  const debtIn = (mint: Address): Promise<bigint> => {
    const known = debts.get(mint)
    if (known !== undefined) return known()
    const reading = shareReading({ clock, ageMaxMs: debtAgeMaxMs, read: () => lifecycle.undeliveredBaseUnits(mint) })
    debts.set(mint, reading)
    return reading()
  }
  const dollarOf = (mint: Address) => dollars.find(({ terms }) => terms.mint === mint)
  const whyOff = async (price: Price): Promise<string | undefined> => {
    const off = deps.whyOff(price.mint)
    if (off !== undefined) return off
    // Refuse deposits too while no burn can be promised, because their balance could not buy anything.
    const spends = isDepositPrice(price) && dollarOf(price.mint)?.burn === 'token'
    const promised = price.tokenBurn ?? (spends ? { mint: token.mint, baseUnits: 1n } : undefined)
    if (promised === undefined) return undefined
    const owedBaseUnits = (await debtIn(promised.mint)) + promised.baseUnits
    return owedBaseUnits <= maxBaseUnits ? undefined : undelivered
  }
  // The smallest price of a dollar covers the network fee of the payment.
  const whyTooSmall = ({ mint, priceMicroUsd }: Price): string | undefined => {
    const { symbol, minimumMicroUsd = 0n } = dollarOf(mint) ?? {}
    if (priceMicroUsd >= minimumMicroUsd) return undefined
    return `a payment in ${symbol} has a smallest price of ${formatDecimal(minimumMicroUsd, usdDecimals)} USD`
  }
  const whyClosed = async (price: Price): Promise<string | undefined> => {
    const noDeposit = isDepositPrice(price) ? deps.whyNoDeposit(price.mint) : undefined
    const off = whyTooSmall(price) ?? noDeposit ?? (await whyOff(price))
    return off === undefined ? undefined : `${off}; pay in the token`
  }
  return {
    termsOf: (mint) => dollarOf(mint)?.terms,
    whyOff,
    whyClosed,
    async offers(endpoint, rail) {
      const offered = dollars
        .filter(({ rails }) => rails.includes(rail))
        .flatMap(({ terms }): DollarOffer[] => {
          const price = currentPrice(endpoint, terms.mint)
          return price === undefined ? [] : [{ terms, price }]
        })
      const reasons = await Promise.all(offered.map(({ price }) => whyClosed(price)))
      return offered.filter((_offer, index) => reasons[index] === undefined)
    },
  }
}

const undelivered = 'payments in dollars wait until the treasury has delivered the tokens for their burns'
