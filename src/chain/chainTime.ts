import type { Clock } from '@tollbook/core/clock'

/**
 * Time by the blocks of the chain. Ages are judged by it, so that a wrong clock of this machine, and an outage of the nodes,
 * make no payment too old.
 */
export interface ChainTime {
  /** Time of a block that is the newest one at this moment. */
  sawTip(blockTimeMs: number): void
  /** Time of the newest known block, and what has passed since. The machine's clock until a block is known. */
  timeMs(): number
  /** This machine's clock minus the chain's, when the tip was last seen. 0 until then. */
  skewMs(): number
  /** Time since the tip was last seen. */
  ageMs(): number
}

/**
 * Block time carried on by the monotonic clock. A wrong system clock
 * therefore does not change what counts as expired.
 */
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
