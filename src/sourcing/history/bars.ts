import { UpstreamFailure } from '../../product/upstreamFailure.ts'

/** Prices of one interval, in the order of time. */
export interface Bar {
  readonly startMs: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  /** Absent where the provider does not report it. */
  readonly volume?: number | undefined
}

/** Conditions that the bars of a provider have to meet before they are sold. */
export interface BarRule {
  /** The price that is sold with the history. Undefined for a probe. */
  readonly price: number | undefined
  /** The distance from it that the last close may have. */
  readonly percentMax: number
  readonly nowMs: number
  /** Earliest begin of the first bar. */
  readonly sinceMs: number
  /** Age of the last bar's end from which the series is out of date. */
  readonly ageMaxMs: number
  readonly intervalMs: number
}

// One price among thousands of times larger ones is a defect. Prices do rise and fall several times within a bar.
const stepFactorMax = 5
// Providers round the four prices of a bar separately.
const roundingSlack = 1e-6

/** Throws unless the bars are in order, consistent, recent, and end near the price on which sources agree. */
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

/** The time of a series: the end of its last bar, or now while that bar runs. */
export function endMsOf(bars: readonly Bar[], { intervalMs, nowMs }: Pick<BarRule, 'intervalMs' | 'nowMs'>): number {
  return Math.min(nowMs, (bars.at(-1)?.startMs ?? 0) + intervalMs)
}
