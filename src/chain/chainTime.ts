import type { Clock } from '@tollbook/core/clock'

/**
 * Time by the blocks of the chain, from which ages are computed. Neither a wrong clock of this machine nor an outage of
 * the nodes makes a payment too old.
 */
export interface ChainTime {
  /** Takes the time of the newest block. */
  sawTip(blockTimeMs: number): void
  /** Time of the newest known block plus the time since. The machine's clock until a block is known. */
  timeMs(): number
  /** This machine's clock minus the chain's, when the newest block was last seen. 0 before the first. */
  skewMs(): number
  /** Time since the newest block was last seen. */
  ageMs(): number
}

/** Continues the block time by the monotonic clock, so a wrong system clock does not change what has expired. */
export function createChainTime(clock: Clock): ChainTime {
  const openedAtMs = clock.monotonicMs()
  let tip: { readonly blockTimeMs: number; readonly seenAtMs: number; readonly skewMs: number } | undefined
  const ageMs = () => clock.monotonicMs() - (tip?.seenAtMs ?? openedAtMs)
  return {
    sawTip(blockTimeMs) {
      tip = { blockTimeMs, seenAtMs: clock.monotonicMs(), skewMs: clock.nowMs() - blockTimeMs }
    },
    timeMs: () => (tip === undefined ? clock.nowMs() : tip.blockTimeMs + ageMs()),
    skewMs: () => tip?.skewMs ?? 0,
    ageMs,
  }
}
