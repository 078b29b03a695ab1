import { isoTime } from '@tollbook/core/clock'
import { randomToken } from '@tollbook/core/id'
import { displayNumber } from '@tollbook/core/money'
import { memoOfSecret } from '@tollbook/core/binding'
import type { PaymentLedger } from '../../payment/paymentLedger.ts'
import { type Quote, transferBaseUnits } from '@tollbook/core/quote'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { sentForArrival } from '@tollbook/core/transferFee'
import type { QuoteBody } from '@tollbook/core/wire'
import type { Challenge, Offer } from '../../paywall/rail.ts'
import { burnPercentage, distributionOf, type SplitShare } from '../../pricing/splitSetting.ts'

export interface QuoteDeps {
  readonly ledger: Pick<PaymentLedger, 'recordQuote'>
  readonly terms: PaymentTerms
  /** The operator's split of each payment. */
  readonly split: readonly SplitShare[]
  /** A slot that the chain has certainly reached. */
  readonly slot: () => number
}

/**
 * Each 402 is a new quote with a fresh secret. The ledger keeps the memo; the secret is in this answer and nowhere else. A
 * quote belongs to a wallet, so a caller without one gets none.
 */
export async function challenge(deps: QuoteDeps, offer: Offer): Promise<Challenge | undefined> {
  const { payer, price, id, issuedAtMs, expiresAtMs } = offer
  if (payer === undefined) return undefined
  const secret = randomToken()
  const memo = memoOfSecret(secret)
  const quote: Quote = { ...price, id, wallet: payer, memo, issuedAtMs, expiresAtMs, slot: deps.slot() }
  await deps.ledger.recordQuote(quote)
  return {
    instruction: `burn ${quote.burnBaseUnits} and transfer ${transferBaseUnits(quote)} base units of the token, then repeat the request with x-payment-proof`,
    members: membersOf(deps, quote, secret),
    headers: {},
  }
}

/** The members of specification, section 2.8, and those that a program needs to pay. */
function membersOf({ terms, split }: QuoteDeps, quote: Quote, secret: string): Challenge['members'] {
  const transfer = transferBaseUnits(quote)
  // A price of one base unit is burned whole, and a transfer of nothing has no fee.
  const fee =
    terms.transferFee === undefined || transfer === 0n
      ? {}
      : { transferWithFeeBaseUnits: sentForArrival(transfer, terms.transferFee).toString() }
  return {
    distribution: distributionOf(split),
    burnInfo: { percentage: burnPercentage(split), tokensToBurn: displayNumber(quote.burnBaseUnits, quote.decimals) },
    paymentWallet: terms.paymentWallet,
    tokenMint: terms.mint,
    tokenProgram: terms.tokenProgram,
    paymentTokenAccount: terms.paymentTokenAccount,
    network: terms.network,
    quote: {
      id: quote.id,
      expiresAt: isoTime(quote.expiresAtMs),
      requiredBaseUnits: quote.requiredBaseUnits.toString(),
      burnBaseUnits: quote.burnBaseUnits.toString(),
      transferBaseUnits: transfer.toString(),
      ...fee,
      decimals: quote.decimals,
      memo: quote.memo,
      secret,
      priceList: quote.priceList,
    },
  } satisfies Omit<QuoteBody, 'error' | 'code' | 'pricing'>
}
