import { z } from 'zod'

/*
 * Bodies of requests and answers, for server and client. The server builds the 402 with these types, and the client
 * parses answers with these schemas.
 */

const baseUnitsText = z.string().regex(/^(0|[1-9]\d{0,19})$/)

/** Symbol of a token. Only letters, digits and a few signs, because terminals and pages print it. */
export const tokenSymbolText = z.string().regex(/^[A-Za-z0-9$._-]{1,16}$/, 'must be 1 to 16 letters, digits or $._-')
export const tokenSourceText = z.string().regex(/^https:\/\/[!-~]{1,300}$/, 'must be an https:// URL')

/** Error text for people. Products in OpenAI's wire format have the text in `message`. */
const errorMember = z.union([z.string(), z.looseObject({ message: z.string() })])

export function errorMessage(error: z.infer<typeof errorMember>): string {
  return typeof error === 'string' ? error : error.message
}

export const quoteBody = z.object({
  error: errorMember,
  code: z.literal('PAYMENT_REQUIRED'),
  pricing: z.object({
    endpoint: z.string(),
    /** HTTP method of the product that a tool sells. Absent in an answer to an HTTP request. */
    method: z.string().exactOptional(),
    priceUSD: z.number(),
    tokenPrice: z.number(),
    requiredTokens: z.number(),
    /** Limits of the request that the price covers, such as the model and the number of tokens. */
    covers: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).optional(),
  }),
  /** Percentage of each account in the operator's split. The burn has the name `burn`. */
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
    /** Amount to send so that `transferBaseUnits` arrive. Present only if the mint has a transfer fee. */
    transferWithFeeBaseUnits: baseUnitsText.optional(),
    decimals: z.int().min(0).max(18),
    memo: z.string(),
    secret: z.string(),
    priceList: z.int().min(1).exactOptional(),
  }),
})

/** Body of a 402 `PAYMENT_REQUIRED`: the fields of specification 2.8, and the fields that a program needs to pay. */
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
  /** Amount that the service burns later. Present if the payer sent the whole price and burned nothing. */
  burnOwed: baseUnitsText.exactOptional(),
  /**
   * Present for a payment in dollars. All other amounts are base units of this mint, and no part of these amounts is
   * burned.
   */
  currency: z
    .object({
      mint: z.string(),
      decimals: z.int(),
      /**
       * Percentage of each account. Present if the operator divides this dollar token differently from the service
       * token.
       */
      split: z.record(z.string(), z.string()).exactOptional(),
    })
    .exactOptional(),
  /** Burn of the service token that a payment in dollars owes. The treasury delivers the tokens. */
  tokenBurn: z.object({ mint: z.string(), baseUnits: baseUnitsText, source: z.literal('treasury') }).exactOptional(),
  /** Base units of each account, without the burn. */
  distribution: z.record(z.string(), baseUnitsText),
  /**
   * Number of the price list, and the percentage of each account in its split. Receipts of the first release have
   * neither field.
   */
  priceList: z.int().min(1).exactOptional(),
  split: z.record(z.string(), z.string()).exactOptional(),
  ledger: z.object({ position: z.int().min(1), leafHash: z.string().regex(/^[0-9a-f]{64}$/) }),
  issuedAt: z.iso.datetime(),
  /** Time of the signature. Present if the receipt was signed after the key of `issuedAt` had been replaced. */
  reissuedAt: z.iso.datetime().exactOptional(),
  jws: z.string(),
})

export const saleBody = z.object({
  success: z.literal(true),
  data: z.unknown(),
  receipt: receiptBody,
  // URL of the proof that the ledger contains the delivery.
  inclusionProof: z.string().optional(),
  meta: z.object({ source: z.string(), asOf: z.iso.datetime(), cached: z.boolean() }).loose(),
})

export type SaleBody = z.infer<typeof saleBody>
