export interface Load {
  readonly lagMs: number
  /** Mean time to answer a request for a price. 0 if there was no such request. */
  readonly quoteMs: number
  /**
   * True if a payment was claimed in this window, or a request from a client address that had paid was admitted. A
   * request that continues from an earlier window does not count.
   */
  readonly servesPayers: boolean
}

export const limitMax = 1_000
// Minimum while no payers are served. A purpose gets half of it, which is enough for 64 connections that each request
// one price after another.
const limitMin = 160
// A purpose gets half of this limit, and four quotes are about 4 ms of work by `unitsOf`.
const limitMinWithPayers = 8
// A paid request passes the event loop about 20 times, so 30 ms of lag make it 0.6 s slower.
const lagMaxMs = 30
// A quote is one batched insert. If it takes longer than this, the database is the bottleneck.
const quoteMaxMs = 500
const decrease = 0.7
const increase = 32

/**
 * Computes the next limit by additive increase and multiplicative decrease. The limit also grows in calm windows that
 * do not use it, so that it recovers after a rare burst.
 */
export function nextLimit(limit: number, { lagMs, quoteMs, servesPayers }: Load): number {
  const least = servesPayers ? limitMinWithPayers : limitMin
  if (lagMs > lagMaxMs || quoteMs > quoteMaxMs) return Math.max(least, Math.floor(limit * decrease))
  return Math.max(least, Math.min(limitMax, limit + increase))
}
