import type { Address } from '@tollbook/core/address'
import { isoTime } from '@tollbook/core/clock'
import { randomToken } from '@tollbook/core/id'
import { displayNumber } from '@tollbook/core/money'
import { memoOfSecret } from '@tollbook/core/binding'
import type { PaymentLedger, RecordOptions } from '../../payment/paymentLedger.ts'
import { type Price, type Quote, transferBaseUnits } from '@tollbook/core/quote'
import { depositSplit, isDepositPrice } from '../../payment/tabSettlement.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { sentForArrival } from '@tollbook/core/transferFee'
import type { QuoteBody } from '@tollbook/core/wire'
import type { Challenge, Offer } from '../../paywall/rail.ts'
import type { TokenNames } from '../../pricing/tokenNames.ts'
import { burnPercentage, distributionOf, type SplitShare } from '../../pricing/splitSetting.ts'

export interface QuoteDeps {
  readonly ledger: Pick<PaymentLedger, 'recordQuote'>
  readonly terms: PaymentTerms
  readonly split: readonly SplitShare[]
  readonly token: TokenNames
  /**
   * Returns a slot that the chain has certainly reached. A payment that landed before this slot was not made for the
   * quote.
   */
  readonly slot: () => number
}

/**
 * Records a quote and returns its offer. The ledger stores the memo and not the secret, which only this response
 * contains. A quote belongs to a wallet, so a caller without a wallet gets no quote.
 */
export async function challenge(deps: QuoteDeps, offer: Offer): Promise<Challenge | undefined> {
  const { payer } = offer
  if (payer === undefined) return undefined
  const secret = randomToken()
  const quote = await recordQuote(deps, { ...offer, payer, memo: memoOfSecret(secret) })
  return {
    instruction: `burn ${quote.burnBaseUnits} and transfer ${transferBaseUnits(quote)} base units of the token, then repeat the request with x-payment-proof`,
    members: membersOf(deps, quote, secret),
    headers: {},
  }
}

export interface PayerOffer extends Omit<Offer, 'request'> {
  readonly payer: Address
}

export async function recordQuote(
  { ledger, slot }: QuoteDeps,
  { memo, ...offer }: PayerOffer & { readonly memo: string },
  options?: RecordOptions,
): Promise<Quote> {
  const { payer, price, id, issuedAtMs, expiresAtMs } = offer
  const quote: Quote = { ...price, id, wallet: payer, memo, issuedAtMs, expiresAtMs, slot: slot() }
  await ledger.recordQuote(quote, options)
  return quote
}

/** Returns the base units to send so that the quoted amount arrives in full. A transfer of zero pays no transfer fee. */
export function sentBaseUnits(terms: PaymentTerms, price: Price): bigint {
  const baseUnits = transferBaseUnits(price)
  const transferFee = terms.transferFee?.()
  return transferFee === undefined || baseUnits === 0n ? baseUnits : sentForArrival(baseUnits, transferFee)
}

/** Returns the members of the specification, section 2.8, and further members that a program needs to pay. */
function membersOf(deps: QuoteDeps, quote: Quote, secret: string): Challenge['members'] {
  const { terms, token } = deps
  const split = isDepositPrice(quote) ? depositSplit : deps.split
  const baseUnits = transferBaseUnits(quote)
  // A transfer of zero pays no transfer fee.
  const hasFee = terms.transferFee?.() !== undefined && baseUnits !== 0n
  const fee = hasFee ? { transferWithFeeBaseUnits: sentBaseUnits(terms, quote).toString() } : {}
  return {
    distribution: distributionOf(split),
    burnInfo: { percentage: burnPercentage(split), tokensToBurn: displayNumber(quote.burnBaseUnits, quote.decimals) },
    paymentWallet: terms.paymentWallet,
    tokenMint: terms.mint,
    tokenSymbol: token.symbol,
    ...(token.sourceUrl === undefined ? {} : { tokenSourceUrl: token.sourceUrl }),
    tokenProgram: terms.tokenProgram,
    paymentTokenAccount: terms.paymentTokenAccount,
    network: terms.network,
    quote: {
      id: quote.id,
      expiresAt: isoTime(quote.expiresAtMs),
      requiredBaseUnits: quote.requiredBaseUnits.toString(),
      burnBaseUnits: quote.burnBaseUnits.toString(),
      transferBaseUnits: baseUnits.toString(),
      ...fee,
      decimals: quote.decimals,
      memo: quote.memo,
      secret,
      priceList: quote.priceList,
    },
  } satisfies Omit<QuoteBody, 'error' | 'code' | 'pricing'>
}
