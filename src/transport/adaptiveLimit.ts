/** Load of one window of time. */
export interface Load {
  /** Mean delay of the event loop. */
  readonly lagMs: number
  /** Mean time to answer a request for a price; 0 when there was none. */
  readonly quoteMs: number
  /** Whether requests of callers who have paid were in progress. */
  readonly servesPayers: boolean
}

export const limitMax = 1_000
// Without payers, 64 connections that ask for prices in turn are served and not refused.
const limitMin = 160
// While payers are served: four quotes, about 4 ms of work, against 25 ms of work for one paid request.
const limitMinBesidePayers = 8
// A paid request passes the event loop about 20 times, so 30 ms of lag make it 0.6 s slower.
const lagMaxMs = 30
// A quote is one batched insert. Beyond this time the database is the bottleneck.
const quoteMaxMs = 500
const decrease = 0.7
const increase = 32

/**
 * The limit of the next window: additive increase, multiplicative decrease. It grows in calm windows even if it is not used: it starts at its
 * upper end, and the lag of a start or of a rare burst is over seconds later.
 */
export function nextLimit(limit: number, { lagMs, quoteMs, servesPayers }: Load): number {
  const least = servesPayers ? limitMinBesidePayers : limitMin
  if (lagMs > lagMaxMs || quoteMs > quoteMaxMs) return Math.max(least, Math.floor(limit * decrease))
  return Math.max(least, Math.min(limitMax, limit + increase))
}
