import { systemClock } from '@tollbook/core/clock'
import { callsPerSecond } from '../callers.ts'
import { median } from '../yardstick.ts'

/** One server, and one way to buy from it. */
export interface PaidService {
  readonly call: () => Promise<void>
  /** Total since the server started. */
  readonly spent: () => Promise<Spent>
}

export interface Spent {
  /** Processor time of the process. */
  readonly serverMs: number
  /** Processor time of its Postgres. */
  readonly databaseMs: number
  /** Database transactions; each statement of a request is one. */
  readonly statements: number
}

export interface PaidLoad {
  readonly p50Ms: number
  readonly perSecond: number
  /** Per request, without the background. */
  readonly each: Spent
  /** Per request, of the background. */
  readonly background: Spent
}

export interface LoadOptions extends PaidService {
  readonly callers: number
  readonly seconds: number
  /** Per second without any request. */
  readonly idle: Spent
}

export async function measurePaidLoad({ callers, seconds, call, spent, idle }: LoadOptions): Promise<PaidLoad> {
  const durations: number[] = []
  const timed = async (): Promise<void> => {
    const startedAtMs = systemClock.monotonicMs()
    await call()
    durations.push(systemClock.monotonicMs() - startedAtMs)
  }
  const before = await spent()
  const perSecond = await callsPerSecond(callers, seconds, timed)
  const all = change(before, await spent(), durations.length)
  const background = ofEach(idle, (value) => value / perSecond)
  return {
    p50Ms: median(durations),
    perSecond,
    each: ofEach(all, (value, name) => Math.max(0, value - background[name])),
    background,
  }
}

/** Jobs run with or without requests. Their work for a payment, such as its finality, is not among this. */
export async function measureIdle({ spent }: Pick<PaidService, 'spent'>, seconds: number): Promise<Spent> {
  const before = await spent()
  await systemClock.sleep(seconds * 1000)
  return change(before, await spent(), seconds)
}

function change(before: Spent, after: Spent, count: number): Spent {
  return ofEach(after, (value, name) => (value - before[name]) / count)
}

function ofEach(spent: Spent, map: (value: number, name: keyof Spent) => number): Spent {
  return {
    serverMs: map(spent.serverMs, 'serverMs'),
    databaseMs: map(spent.databaseMs, 'databaseMs'),
    statements: map(spent.statements, 'statements'),
  }
}
