import type { Address } from '@tollbook/core/address'
import type { Price } from '@tollbook/core/quote'
import type { CurrencyConfig } from '../../config/currencyConfig.ts'
import type { Dollar } from '../../payment/dollar.ts'
import type { PaymentLifecycle } from '../../payment/paymentLifecycle.ts'
import type { DollarOffer, Dollars } from '../../rails/sponsored/dollars.ts'
import { shareReading } from '../../transport/shareReading.ts'
import type { PartDeps } from '../partDeps.ts'
import type { Prices } from '../products/prices.ts'

export interface DollarsDeps extends Pick<PartDeps, 'clock'> {
  readonly dollars: readonly Dollar[]
  /** Decimals of the service token. */
  readonly decimals: number
  readonly currentPrice: Prices['currentPrice']
  /** Why a dollar is not accepted now: its peg, or its account. */
  readonly whyOff: (mint: Address) => string | undefined
  readonly lifecycle: Pick<PaymentLifecycle, 'undeliveredBaseUnits'>
}

// Offers of this time share one reading, so promises of this time may exceed the limit.
const debtAgeMaxMs = 1_000

/**
 * Opens the dollars in addition to the token. A dollar is offered while the burn of the sale can be promised: the token
 * has a price, and the treasury owes no more tokens than the operator allows. Undefined if only the token is accepted.
 */
export function openDollars({ burnDebtMaxTokens }: CurrencyConfig, deps: DollarsDeps): Dollars | undefined {
  const { clock, dollars, decimals, currentPrice, whyOff, lifecycle } = deps
  if (dollars.length === 0) return undefined
  const maxBaseUnits = BigInt(burnDebtMaxTokens) * 10n ** BigInt(decimals)
  const debts = new Map<Address, () => Promise<bigint>>()
  const debtIn = (mint: Address): Promise<bigint> => {
    const known = debts.get(mint)
    if (known !== undefined) return known()
    const reading = shareReading({ clock, ageMaxMs: debtAgeMaxMs, read: () => lifecycle.undeliveredBaseUnits(mint) })
    debts.set(mint, reading)
    return reading()
  }
  const whyClosed = async ({ mint, tokenBurn }: Price): Promise<string | undefined> => {
    const off = whyOff(mint)
    if (off !== undefined) return `${off}; pay in the token`
    if (tokenBurn === undefined) return undefined
    const owedBaseUnits = (await debtIn(tokenBurn.mint)) + tokenBurn.baseUnits
    return owedBaseUnits <= maxBaseUnits ? undefined : undelivered
  }
  return {
    termsOf: (mint) => dollars.find(({ terms }) => terms.mint === mint)?.terms,
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

const undelivered =
  'payments in dollars wait until the treasury has delivered the tokens for their burns; pay in the token'
