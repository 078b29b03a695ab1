import type { Snapshot } from './snapshot.ts'

/** Where an export begins or ends. A moment counts by when an event was recorded, which grows with its position. */
export type Bound =
  | { readonly kind: 'position'; readonly position: number }
  /** From this moment on, or up to it without it. */
  | { readonly kind: 'moment'; readonly ms: number }

const dayMs = 24 * 60 * 60 * 1000
const dayForm = /^\d{4}-\d{2}-\d{2}$/
const momentForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/

/** `42`, `2026-11-21` or `2026-11-21T10:00:00Z`. The last day of a range is in it, so it ends where the next one begins. */
export function readBound(text: string, end: 'from' | 'to'): Bound | undefined {
  if (/^[1-9]\d{0,14}$/.test(text)) return { kind: 'position', position: Number(text) }
  const isDay = dayForm.test(text)
  if (!isDay && !momentForm.test(text)) return undefined
  const ms = Date.parse(isDay ? `${text}T00:00:00Z` : text)
  if (Number.isNaN(ms)) return undefined
  return { kind: 'moment', ms: isDay && end === 'to' ? ms + dayMs : ms }
}

export async function firstPositionOf(snapshot: Snapshot, bound: Bound, head: number): Promise<number> {
  return bound.kind === 'position' ? bound.position : firstRecordedFrom(snapshot, bound.ms, head)
}

export async function lastPositionOf(snapshot: Snapshot, bound: Bound, head: number): Promise<number> {
  return bound.kind === 'position' ? bound.position : (await firstRecordedFrom(snapshot, bound.ms, head)) - 1
}

/** Halves the book instead of reading it: recording times grow with positions, and there is no index on them. */
async function firstRecordedFrom(snapshot: Snapshot, ms: number, head: number): Promise<number> {
  let [low, high] = [1, head + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = await snapshot
      .selectFrom('ledger.events')
      .select('recorded_at')
      .where('seq', '=', middle)
      .executeTakeFirst()
    if (row !== undefined && row.recorded_at.getTime() >= ms) high = middle
    else low = middle + 1
  }
  return low
}
