import { assert } from '@tollbook/core/assert'
import { seeded } from '../kernel/arbitraryItems.ts'

/** Decisions of one run, all from one seed. */
export interface Chance {
  /** True with this probability. */
  happens(probability: number): boolean
  /** A whole number from 0 to `below` - 1. */
  number(below: number): number
  /** A whole number between the two, both included. */
  between(least: number, most: number): number
  pick<T>(values: readonly [T, ...T[]]): T
  bytes(length: number): Uint8Array
}

export function createChance(seed: number): Chance {
  const random = seeded(seed)
  const number = (below: number) => Math.floor(random() * below)
  return {
    happens: (probability) => random() < probability,
    number,
    between: (least, most) => least + number(most - least + 1),
    pick: (values) => values[number(values.length)] ?? values[0],
    bytes: (length) => Uint8Array.from({ length }, () => number(256)),
  }
}

/** Time that passes from one event to the next. Everything that waits in a run waits here. */
export interface VirtualTime {
  /** Milliseconds since the start of the run. */
  nowMs(): number
  /** Number of events so far. */
  steps(): number
  wait(durationMs: number): Promise<void>
  /** Cancels itself if the returned function is called before. */
  after(durationMs: number, run: () => void): () => void
  /** Runs all events up to that moment, then stands at it. */
  runUntil(endMs: number, afterStep: () => void): Promise<void>
}

interface Planned {
  readonly atMs: number
  /** Decides between events of the same moment, so that a seed also decides the order. */
  readonly order: number
  readonly run: () => void
}

export function createVirtualTime(chance: Chance): VirtualTime {
  const heap: Planned[] = []
  let nowMs = 0
  let steps = 0

  function after(durationMs: number, run: () => void): () => void {
    assert(durationMs >= 0, 'nothing happens in the past')
    let isCancelled = false
    push(heap, {
      atMs: nowMs + Math.ceil(durationMs),
      order: chance.number(1_000_000_000),
      run: () => {
        if (!isCancelled) run()
      },
    })
    return () => {
      isCancelled = true
    }
  }

  return {
    nowMs: () => nowMs,
    steps: () => steps,
    wait: (durationMs) => new Promise((resolve) => after(durationMs, resolve)),
    after,
    async runUntil(endMs, afterStep) {
      await settled()
      for (let next = heap[0]; next !== undefined && next.atMs <= endMs; next = heap[0]) {
        pop(heap)
        nowMs = Math.max(nowMs, next.atMs)
        steps++
        next.run()
        await settled()
        afterStep()
      }
      nowMs = Math.max(nowMs, endMs)
    },
  }
}

/** Resolves when all code that can run has run. Two turns, because a queue starts its batch in the next one. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve))
}

function isBefore(one: Planned, other: Planned): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
}

function push(heap: Planned[], planned: Planned): void {
  let at = heap.length
  heap.push(planned)
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || !isBefore(planned, parent)) break
    heap[at] = parent
    at = above
  }
  heap[at] = planned
}

function pop(heap: Planned[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    const left = heap[2 * at + 1]
    const right = heap[2 * at + 2]
    if (left === undefined) break
    const isRight = right !== undefined && isBefore(right, left)
    const child = isRight ? right : left
    if (!isBefore(child, last)) break
    heap[at] = child
    at = 2 * at + (isRight ? 2 : 1)
  }
  heap[at] = last
}
