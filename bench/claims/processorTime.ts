import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import { assert } from '@tollbook/core/assert'
import { callsPerSecond } from '../callers.ts'

/** One kind of call under load: how many a second, and the processor time of each. */
export interface Load {
  readonly perSecond: number
  readonly nodeMicros: number
  readonly postgresMicros: number
}

export interface LoadOptions {
  readonly callers: number
  readonly seconds: number
  readonly call: () => Promise<unknown>
  /** Tells the backends of the calls by their application's name. */
  readonly admin: pg.Client
  readonly applicationName: string
}

/** Processor time is what neighbours on a shared machine disturb least. */
export async function measureLoad({ callers, seconds, call, admin, applicationName }: LoadOptions): Promise<Load> {
  const before = await backendMicros(admin, applicationName)
  const node = process.cpuUsage()
  let calls = 0
  const counted = async () => {
    await call()
    calls++
  }
  const perSecond = await callsPerSecond(callers, seconds, counted)
  const { user, system } = process.cpuUsage(node)
  const after = await backendMicros(admin, applicationName)
  assert(calls > 0, 'a load makes calls')
  return { perSecond, nodeMicros: (user + system) / calls, postgresMicros: (after - before) / calls }
}

/** Nanoseconds on a processor, of every backend that the application has; they stay open between measurements. */
export async function backendMicros(admin: pg.Client, applicationName: string): Promise<number> {
  const { rows } = await admin.query<{ pid: number }>('select pid from pg_stat_activity where application_name = $1', [
    applicationName,
  ])
  const times = await Promise.all(rows.map(({ pid }) => readFile(`/proc/${pid}/schedstat`, 'utf8')))
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1000, 0)
}
