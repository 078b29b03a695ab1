import pg from 'pg'
import { systemClock } from '@tollbook/core/clock'
import { callsPerSecond } from '../callers.ts'
import { median } from '../yardstick.ts'

/** Commits of the bench itself, in the Postgres that is measured. */
export interface Commits extends AsyncDisposable {
  /** Median time in ms of two inserts of one row, one after the other: a debit commits twice. */
  pairMs(load: { readonly callers: number; readonly seconds: number }): Promise<number>
}

export async function openCommits(databaseUrl: string, callersMax: number): Promise<Commits> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: callersMax })
  await pool.query('create table public.bench_commits (committed_at timestamptz not null default now())')
  const commit = () => pool.query({ name: 'commit', text: 'insert into public.bench_commits default values' })
  return {
    async pairMs({ callers, seconds }) {
      const durations: number[] = []
      await callsPerSecond(callers, seconds, async () => {
        const startedAtMs = systemClock.monotonicMs()
        await commit()
        await commit()
        durations.push(systemClock.monotonicMs() - startedAtMs)
      })
      return median(durations)
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
