import { z } from 'zod'
import { proofMaxAgeMs, quoteGraceMs, quoteTtlMs } from '../payment/paymentAges.ts'
import { usd, variable, integerFrom } from './variables.ts'

/** Maximum milliseconds of a request handler. Chat servers share most of this time. */
export const handlerTimeoutMs = variable('HANDLER_TIMEOUT_MS', integerFrom(100, 300_000, 30_000))

const fixedLimits = {
  quoteTtlMs,
  quoteGraceMs,
  proofMaxAgeMs,
  /** Maximum milliseconds of waiting for a signature that is not on chain yet. */
  proofLookupWaitMs: 2_000,
  /**
   * Maximum milliseconds of waiting for a transaction that the service has sent. A slot takes 0.4 s, and a confirmation
   * takes a few slots.
   */
  broadcastWaitMs: 10_000,
  /** Maximum attempts to serve one payment. After the last failed attempt, the payment is owed back. */
  attemptsMax: 10,
}

export const saleConfig = z
  .object({
    handlerTimeoutMs,
    /** Price above which two nodes must return the same record of a payment. Undefined: one node is enough at any price. */
    quorumAboveMicroUsd: variable('SOLANA_QUORUM_ABOVE_USD', usd.optional()),
    /** Maximum number of whole tokens for which answers are delivered before their payments are final. 0 means no limit. */
    exposureMaxTokens: variable('EXPOSURE_MAX_TOKENS', integerFrom(0, 9_999_999_999, 0)),
  })
  .transform((limits) => ({
    ...fixedLimits,
    ...limits,
    /**
     * Milliseconds after which another process can take over the attempt of a dead process. Twice the time limit of the
     * handler, so that a running handler keeps its lease. The second half is for sending streamed answers.
     */
    claimLeaseMs: 2 * limits.handlerTimeoutMs,
  }))

export type SaleConfig = z.infer<typeof saleConfig>
