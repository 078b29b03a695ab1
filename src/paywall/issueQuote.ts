import type { Clock } from '@tollbook/core/clock'
import { isoTime } from '@tollbook/core/clock'
import { newId, randomToken } from '@tollbook/core/id'
import { displayNumber } from '@tollbook/core/money'
import type { Address } from '@tollbook/core/address'
import { memoOfSecret } from '@tollbook/core/binding'
import type { PaymentLedger } from '../payment/paymentLedger.ts'
import { type Price, type Quote, transferBaseUnits } from '@tollbook/core/quote'
import type { PaymentTerms } from '../payment/settlement.ts'
import { sentForArrival } from '@tollbook/core/transferFee'
import type { QuoteBody } from '@tollbook/core/wire'
import { usdDecimals } from '../pricing/priceList.ts'
import { shares } from '../pricing/split.ts'
import { tokenPriceDecimals } from '../pricing/tokenPrice.ts'
import { type Answer, jsonAnswer } from './answer.ts'

export interface QuoteDeps {
  readonly clock: Clock
  readonly ledger: PaymentLedger
  readonly terms: PaymentTerms
  readonly quoteTtlMs: number
  /** A slot the chain has certainly reached. */
  readonly slot: () => number
}

/** Each 402 is a new quote with a fresh secret. The ledger keeps the memo; the secret is in this answer and nowhere else. */
export async function issueQuote(deps: QuoteDeps, wallet: Address, price: Price): Promise<Answer> {
  const secret = randomToken()
  const issuedAtMs = deps.clock.nowMs()
  const quote: Quote = {
    ...price,
    id: newId('quote'),
    wallet,
    memo: memoOfSecret(secret),
    issuedAtMs,
    expiresAtMs: issuedAtMs + deps.quoteTtlMs,
    slot: deps.slot(),
  }
  await deps.ledger.recordQuote(quote)
  return jsonAnswer(402, JSON.stringify(bodyOf(quote, secret, deps.terms)))
}

const distribution = {
  burn: `${shares.burn}%`,
  provider: `${shares.provider}%`,
  holders: `${shares.holders}%`,
  treasury: `${shares.treasury}%`,
} as const

function bodyOf(quote: Quote, secret: string, terms: PaymentTerms): QuoteBody {
  const transfer = transferBaseUnits(quote)
  // A price of one base unit is burned whole, and a transfer of nothing has no fee.
  const fee =
    terms.transferFee === undefined || transfer === 0n
      ? {}
      : { transferWithFeeBaseUnits: sentForArrival(transfer, terms.transferFee).toString() }
  return {
    error: `payment required: burn ${quote.burnBaseUnits} and transfer ${transfer} base units of the token, then repeat the request with x-payment-proof`,
    code: 'PAYMENT_REQUIRED',
    pricing: {
      endpoint: quote.endpoint,
      priceUSD: displayNumber(quote.priceMicroUsd, usdDecimals),
      tokenPrice: displayNumber(quote.tokenPriceAttoUsd, tokenPriceDecimals),
      requiredTokens: displayNumber(quote.requiredBaseUnits, quote.decimals),
    },
    distribution,
    burnInfo: { percentage: Number(shares.burn), tokensToBurn: displayNumber(quote.burnBaseUnits, quote.decimals) },
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
    },
  }
}
