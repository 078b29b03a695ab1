import { z } from 'zod'
import { proofMaxAgeMs, quoteGraceMs, quoteTtlMs } from '../payment/paymentAges.ts'
import { usd, variable, integerFrom } from './variables.ts'

/** Maximum time of a request handler. Chat servers share most of it. */
export const handlerTimeoutMs = variable('HANDLER_TIMEOUT_MS', integerFrom(100, 300_000, 30_000))

/** Limits that have no variable. */
const fixedLimits = {
  quoteTtlMs,
  quoteGraceMs,
  proofMaxAgeMs,
  /** Maximum wait for a signature that is not on chain yet. */
  proofLookupWaitMs: 2_000,
  /** Maximum wait for a transaction that the service has sent. A slot takes 0.4 s, and a confirmation a few slots. */
  broadcastWaitMs: 10_000,
  /** Maximum attempts to serve one payment. After the last failure, the payment is owed back. */
  attemptsMax: 10,
}

export const saleConfig = z
  .object({
    handlerTimeoutMs,
    /** Price above which two nodes must return the same record of a payment. Undefined: one node is enough. */
    quorumAboveMicroUsd: variable('SOLANA_QUORUM_ABOVE_USD', usd.optional()),
    /** Maximum of whole tokens served for payments that are not final. 0 means no limit. */
    exposureMaxTokens: variable('EXPOSURE_MAX_TOKENS', integerFrom(0, 9_999_999_999, 0)),
  })
  .transform((limits) => ({
    ...fixedLimits,
    ...limits,
    /**
     * Time after which another process can take over the attempt of a dead process. A running handler keeps its lease.
     * The second half is for streamed answers to slow callers.
     */
    claimLeaseMs: 2 * limits.handlerTimeoutMs,
  }))

export type SaleConfig = z.infer<typeof saleConfig>
