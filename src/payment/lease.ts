import { assert } from '@tollbook/core/assert'
import { type Refusal, refuse } from '@tollbook/core/refusal'

/** Time and length of an attempt's lease. */
export interface AttemptLease {
  readonly leaseMs: number
  readonly leaseUntilMs: number
}

// The clocks of server and database differ by less, or paid routes close (jobs/clockHealth.ts).
const clockDifferenceMaxMs = 60_000

/**
 * A lease that began in the future was taken before the clock of the database went back. The ledger then decides by its
 * own time, which never stands still.
 */
export function mayTakeOver({ leaseMs, leaseUntilMs }: AttemptLease, nowMs: number): boolean {
  assert(leaseMs > 0, 'a lease has a length')
  return nowMs >= leaseUntilMs || nowMs < leaseUntilMs - leaseMs - clockDifferenceMaxMs
}

/** A refusal while the attempt of another request may still be running, with the seconds to wait. */
export function checkLease(lease: AttemptLease, nowMs: number): Refusal | undefined {
  if (mayTakeOver(lease, nowMs)) return undefined
  return refuseInProgress(Math.min(Math.ceil((lease.leaseUntilMs - nowMs) / 1000), inProgressRetryMaxSeconds))
}

/** Answers 409. The proof stays valid. */
export function refuseInProgress(retryAfterSeconds: number): Refusal {
  assert(retryAfterSeconds >= 1, 'a caller is asked to wait')
  return refuse(
    'PAYMENT_IN_PROGRESS',
    'another request with this proof is being served; retry with the same proof',
    retryAfterSeconds,
  )
}

// Most answers take well under a second, so a caller retries long before a lease of a minute ends.
export const inProgressRetryMaxSeconds = 5
