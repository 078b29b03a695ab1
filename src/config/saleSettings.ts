import { z } from 'zod'
import { parseDecimal } from '@tollbook/core/money'
import { daySeconds, type GivenVariables, wholeNumber } from './variables.ts'

/** Time limits of a sale, from the quote to the answer. */
export interface SaleSettings {
  readonly quoteTtlMs: number
  readonly quoteGraceMs: number
  /** Age, since it landed, at which a payment can no longer be presented for the first time. */
  readonly proofMaxAgeMs: number
  readonly proofLookupWaitMs: number
  readonly claimLeaseMs: number
  readonly handlerTimeoutMs: number
  /** Above this price two nodes have to return the same record of a payment. Undefined: one node is enough. */
  readonly quorumAboveMicroUsd: bigint | undefined
  /** Attempts to serve one payment. When the last one fails, the payment is owed back. */
  readonly attemptsMax: number
}

/** Payments after their answers. */
export interface LifecycleSettings {
  /** Whole tokens that may be served for payments that are not final. 0: no limit. */
  readonly exposureMaxTokens: number
  readonly proofMaxAgeMs: number
  readonly attemptsMax: number
}

const usdDecimals = 6
const microUsd = z
  .string()
  .transform((value, context) => {
    const amount = parseDecimal(value, usdDecimals)
    if (amount !== undefined) return amount
    context.addIssue('must be a decimal number of US dollars, such as 0.05')
    return z.NEVER
  })
  .optional()

export const saleVariables = {
  QUOTE_TTL_SECONDS: wholeNumber(10, daySeconds / 2, 300),
  QUOTE_GRACE_SECONDS: wholeNumber(0, 3_600, 60),
  PROOF_MAX_AGE_SECONDS: wholeNumber(10, daySeconds / 2, 600),
  PROOF_LOOKUP_WAIT_MS: wholeNumber(0, 20_000, 2_000),
  CLAIM_LEASE_SECONDS: wholeNumber(1, 600, 60),
  EXPOSURE_MAX_TOKENS: wholeNumber(0, 9_999_999_999, 0),
  PAYMENT_ATTEMPTS_MAX: wholeNumber(1, 100, 10),
  HANDLER_TIMEOUT_MS: wholeNumber(100, 300_000, 30_000),
  SOLANA_QUORUM_ABOVE_USD: microUsd,
}

type SaleEnvironment = z.infer<z.ZodObject<typeof saleVariables>>

/** Durations in milliseconds. The variables have seconds where people set them. */
export function saleSettingsOf(env: SaleEnvironment): SaleSettings {
  return {
    quoteTtlMs: env.QUOTE_TTL_SECONDS * 1000,
    quoteGraceMs: env.QUOTE_GRACE_SECONDS * 1000,
    proofMaxAgeMs: env.PROOF_MAX_AGE_SECONDS * 1000,
    proofLookupWaitMs: env.PROOF_LOOKUP_WAIT_MS,
    claimLeaseMs: env.CLAIM_LEASE_SECONDS * 1000,
    handlerTimeoutMs: env.HANDLER_TIMEOUT_MS,
    quorumAboveMicroUsd: env.SOLANA_QUORUM_ABOVE_USD,
    attemptsMax: env.PAYMENT_ATTEMPTS_MAX,
  }
}

export function lifecycleSettingsOf(env: SaleEnvironment): LifecycleSettings {
  return {
    exposureMaxTokens: env.EXPOSURE_MAX_TOKENS,
    proofMaxAgeMs: env.PROOF_MAX_AGE_SECONDS * 1000,
    attemptsMax: env.PAYMENT_ATTEMPTS_MAX,
  }
}

/** True when an attempt could lose its lease while its handler still runs. */
export function outlastsLease(given: GivenVariables): boolean {
  const timeout = saleVariables.HANDLER_TIMEOUT_MS.safeParse(given['HANDLER_TIMEOUT_MS'])
  const lease = saleVariables.CLAIM_LEASE_SECONDS.safeParse(given['CLAIM_LEASE_SECONDS'])
  return timeout.success && lease.success && timeout.data >= lease.data * 1000
}
