import type { Clock } from '@tollbook/core/clock'

export type ChainTime = ReturnType<typeof createChainTime>

/** Ages are computed from the time of blocks, so that a wrong clock of this machine does not make a payment too old. */
export function createChainTime(clock: Clock) {
  const openedAtMs = clock.monotonicMs()
  let tip: { readonly blockTimeMs: number; readonly seenAtMs: number; readonly skewMs: number } | undefined
  const ageMs = () => clock.monotonicMs() - (tip?.seenAtMs ?? openedAtMs)
  return {
    sawTip(blockTimeMs: number): void {
      tip = { blockTimeMs, seenAtMs: clock.monotonicMs(), skewMs: clock.nowMs() - blockTimeMs }
    },
    /** The time of the newest known block plus the time since it was seen. This machine's time until a block is known. */
    timeMs: () => (tip === undefined ? clock.nowMs() : tip.blockTimeMs + ageMs()),
    /** This machine's clock less the chain's time when the newest block was last seen. 0 before the first block. */
    skewMs: () => tip?.skewMs ?? 0,
    /** Time since the newest block was last seen. Before the first block, the time since this object was created. */
    ageMs,
  }
}
