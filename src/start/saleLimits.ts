import { proofMaxAgeMs, quoteGraceMs, quoteTtlMs } from '../payment/paymentAges.ts'
import type { SaleConfig } from '../config/saleConfig.ts'

/** Limits of a sale that no operator changes. */
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
export interface SaleLimits extends SaleConfig, Readonly<typeof fixedLimits> {
  /** Time after which the attempt of a dead process may be taken over. */
  readonly claimLeaseMs: number
}

/** `changes` are those of tests. */
export function saleLimitsOf(config: SaleConfig, changes: Partial<SaleLimits> = {}): SaleLimits {
  // A handler that runs must not lose its lease; the other half is for a slow caller of a streamed answer.
  return { ...fixedLimits, ...config, claimLeaseMs: 2 * config.handlerTimeoutMs, ...changes }
}
