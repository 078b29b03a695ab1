import { z } from 'zod'

/*
 * The bodies of requests and answers, as both sides read them. The server builds the 402 with this type; the client
 * parses with the schema and trusts nothing else of an answer.
 */

const baseUnitsText = z.string().regex(/^(0|[1-9]\d{0,19})$/)

/** Limited to letters, digits and a few signs, because terminals and pages print it. */
export const tokenSymbolText = z.string().regex(/^[A-Za-z0-9$._-]{1,16}$/, 'must be 1 to 16 letters, digits or $._-')
export const tokenSourceText = z.string().regex(/^https:\/\/[!-~]{1,300}$/, 'must be an https:// URL')

/** Error text for people. Products in OpenAI's wire format have it in `message`. */
const errorMember = z.union([z.string(), z.looseObject({ message: z.string() })])

export function errorText(error: z.infer<typeof errorMember>): string {
  return typeof error === 'string' ? error : error.message
}

export const quoteBody = z.object({
  error: errorMember,
  code: z.literal('PAYMENT_REQUIRED'),
  pricing: z.object({
    endpoint: z.string(),
    /** Method of the product that a tool sells. Absent over HTTP. */
    method: z.string().exactOptional(),
    priceUSD: z.number(),
    tokenPrice: z.number(),
    requiredTokens: z.number(),
    /** Bounds of what the price covers, such as the model and its tokens. */
    covers: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).optional(),
  }),
  /** Percentages by account of the operator's split; `burn` is one of them. */
  distribution: z.record(z.string(), z.string()),
  burnInfo: z.object({ percentage: z.number(), tokensToBurn: z.number() }),
  paymentWallet: z.string(),
  tokenMint: z.string(),
  tokenSymbol: tokenSymbolText.optional().catch(undefined),
  tokenSourceUrl: tokenSourceText.optional().catch(undefined),
  tokenProgram: z.string(),
  paymentTokenAccount: z.string(),
  network: z.string(),
  quote: z.object({
    id: z.string(),
    expiresAt: z.iso.datetime(),
    requiredBaseUnits: baseUnitsText,
    burnBaseUnits: baseUnitsText,
    transferBaseUnits: baseUnitsText,
    /** Amount to send so that `transferBaseUnits` arrive. Only for a mint with a transfer fee. */
    transferWithFeeBaseUnits: baseUnitsText.optional(),
    decimals: z.int().min(0).max(18),
    memo: z.string(),
    secret: z.string(),
    /** Number of the price list that the amounts come from. */
    priceList: z.int().min(1).exactOptional(),
  }),
})

/** Body of a 402 `PAYMENT_REQUIRED`: specification 2.8, plus the fields that a program needs to pay. */
export type QuoteBody = z.infer<typeof quoteBody>

export const errorBody = z.object({
  error: errorMember,
  code: z.string(),
  reason: z.string().optional(),
  details: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
})

export const receiptBody = z.object({
  id: z.string(),
  wallet: z.string(),
  endpoint: z.string(),
  quoteId: z.string().nullable(),
  signature: z.string(),
  slot: z.int(),
  blockTime: z.iso.datetime(),
  requiredTokens: z.number(),
  requiredBaseUnits: baseUnitsText,
  burned: baseUnitsText,
  /** The part that the service burns later. Present if the payer sent the whole price. */
  burnOwed: baseUnitsText.exactOptional(),
  /** Present for a payment in dollars: the mint of all other amounts, of which nothing is burned. */
  currency: z
    .object({
      mint: z.string(),
      decimals: z.int(),
      /** Percentages by account, if the operator divides this dollar differently from the token. */
      split: z.record(z.string(), z.string()).exactOptional(),
    })
    .exactOptional(),
  /** The burn in the service token that a payment in dollars owes. The treasury delivers the tokens. */
  tokenBurn: z.object({ mint: z.string(), baseUnits: baseUnitsText, source: z.literal('treasury') }).exactOptional(),
  /** Base units by account, without the burn. */
  distribution: z.record(z.string(), baseUnitsText),
  /** Number of the price list, and percentages by account of its split. Receipts of the first release have neither. */
  priceList: z.int().min(1).exactOptional(),
  split: z.record(z.string(), z.string()).exactOptional(),
  ledger: z.object({ position: z.int().min(1), leafHash: z.string().regex(/^[0-9a-f]{64}$/) }),
  issuedAt: z.iso.datetime(),
  /** Time of the signature, if the key of `issuedAt` had been replaced by then. */
  reissuedAt: z.iso.datetime().exactOptional(),
  jws: z.string(),
})

export const saleBody = z.object({
  success: z.literal(true),
  data: z.unknown(),
  receipt: receiptBody,
  // Address of the proof that the ledger contains the delivery.
  inclusionProof: z.string().optional(),
  meta: z.object({ source: z.string(), asOf: z.iso.datetime(), cached: z.boolean() }).loose(),
})

export type SaleBody = z.infer<typeof saleBody>
