import { UpstreamFailure } from '../../product/upstreamFailure.ts'

export interface Bar {
  readonly startMs: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  /** Traded volume. Absent if the provider does not report it. */
  readonly volume?: number | undefined
}

export interface BarRule {
  /** The price that is sold with the history. Undefined for a probe: the last close is then not compared with a price. */
  readonly price: number | undefined
  readonly percentMax: number
  readonly nowMs: number
  /** Earliest allowed start of the first bar, in milliseconds since 1970. */
  readonly sinceMs: number
  /** Maximum time between the end of the last bar and now. A series with an older last bar is out of date. */
  readonly ageMaxMs: number
  readonly intervalMs: number
}

// Allow a factor of 5 within a bar or between closes, because real prices can change several times over.
const stepFactorMax = 5
// Tolerate rounding differences, because providers round each of the four prices of a bar separately.
const roundingSlack = 1e-6

/** Throws unless the bars are in order, consistent and recent, and end near the agreed price. */
export function checkBars(bars: readonly Bar[], rule: BarRule): readonly Bar[] {
  const refuse = (why: string) => new UpstreamFailure('incomplete', `the history: ${why}`)
  const [first, last] = [bars[0], bars.at(-1)]
  if (first === undefined || last === undefined || bars.length < 2) throw refuse('fewer than two bars')
  if (first.startMs < rule.sinceMs) throw refuse('a bar of an earlier time')
  let before: Bar | undefined
  for (const bar of bars) {
    if (!isBar(bar)) throw refuse('a bar whose prices contradict each other')
    if (before !== undefined && bar.startMs <= before.startMs) throw refuse('bars out of order')
    if (before !== undefined && isFar(before.close, bar.close)) throw refuse('a close far from the one before')
    before = bar
  }
  const { price = last.close, percentMax, nowMs, ageMaxMs, intervalMs } = rule
  if (last.startMs > nowMs || nowMs - (last.startMs + intervalMs) > ageMaxMs) throw refuse('it is out of date')
  if (Math.abs(last.close / price - 1) * 100 > percentMax) throw refuse('its last close is far from the price')
  return bars
}

function isBar({ open, high, low, close, volume = 0 }: Bar): boolean {
  const slack = high * roundingSlack
  const isOrdered = low > 0 && Math.min(open, close) >= low - slack && Math.max(open, close) <= high + slack
  return isOrdered && Number.isFinite(high) && high <= low * stepFactorMax && volume >= 0
}

function isFar(one: number, other: number): boolean {
  return Math.max(one, other) > Math.min(one, other) * stepFactorMax
}

/** The last bar may still be running, so a series extends at most to now. */
export function endMsOf(bars: readonly Bar[], { intervalMs, nowMs }: Pick<BarRule, 'intervalMs' | 'nowMs'>): number {
  return Math.min(nowMs, (bars.at(-1)?.startMs ?? 0) + intervalMs)
}
