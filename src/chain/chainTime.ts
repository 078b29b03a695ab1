import type { Clock } from '@tollbook/core/clock'

/**
 * Ages are computed from the blocks' time. A wrong clock of this machine or an outage of the nodes therefore never
 * makes a payment too old.
 */
export interface ChainTime {
  sawTip(blockTimeMs: number): void
  /** The time of the newest known block plus the time since it was seen. This machine's time until a block is known. */
  timeMs(): number
  /** This machine's clock less the chain's time when the newest block was last seen. 0 before the first block. */
  skewMs(): number
  /** Time since the newest block was last seen. */
  ageMs(): number
}

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
