import { z } from 'zod'
import { proofMaxAgeMs, quoteGraceMs, quoteTtlMs } from '../payment/paymentAges.ts'
import { usd, variable, integerFrom } from './variables.ts'

/** Time of a request handler. Chat servers share most of it. */
export const handlerTimeoutMs = variable('HANDLER_TIMEOUT_MS', integerFrom(100, 300_000, 30_000))

/** Limits that no operator changes. */
const fixedLimits = {
  quoteTtlMs,
  quoteGraceMs,
  proofMaxAgeMs,
  /** Wait for a signature that is not on chain yet. */
  proofLookupWaitMs: 2_000,
  /** Attempts to serve one payment. When the last one fails, the payment is owed back. */
  attemptsMax: 10,
}

/** Limits of a sale, from the quote to the answer. */
export const saleConfig = z
  .object({
    handlerTimeoutMs,
    /** Above this price two nodes have to return the same record of a payment. Undefined: one node is enough. */
    quorumAboveMicroUsd: variable('SOLANA_QUORUM_ABOVE_USD', usd.optional()),
    /** Whole tokens that may be served for payments that are not final. 0: no limit. */
    exposureMaxTokens: variable('EXPOSURE_MAX_TOKENS', integerFrom(0, 9_999_999_999, 0)),
  })
  .transform((limits) => ({
    ...fixedLimits,
    ...limits,
    /**
     * Time after which the attempt of a dead process may be taken over. A handler that runs keeps its lease; the other half is
     * for slow callers of streamed answers.
     */
    claimLeaseMs: 2 * limits.handlerTimeoutMs,
  }))

export type SaleConfig = z.infer<typeof saleConfig>
