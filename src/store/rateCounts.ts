import { CompiledQuery } from 'kysely'
import { assert } from '@tollbook/core/assert'
import { type Database, readOrFault } from './database.ts'

/** One count: the requests of one client in one time window of a limit. */
export interface RateCount {
  readonly name: string
  readonly client: string
  readonly window: number
}

export interface RateCountReport extends RateCount {
  /**
   * Number of further requests. Negative for a client that has paid for more requests than it made since the last
   * report.
   */
  readonly more: number
  readonly endsAtMs: number
}

export interface RateCountTotal extends RateCount {
  readonly total: number
}

const shareCall = `
  select limit_name as name, client, time_window as "window", requests as total
  from work.share_rates($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])`

/**
 * Reports counts in one round trip. Returns the totals of all instances for the clients in the reports, so that a limit
 * counts the requests at every instance.
 */
export async function shareRates(
  database: Database,
  reports: readonly RateCountReport[],
): Promise<readonly RateCountTotal[]> {
  assert(
    reports.every(({ more }) => Number.isSafeInteger(more)),
    'requests are counted whole',
  )
  const columns = [
    reports.map(({ name }) => name),
    reports.map(({ client }) => client),
    reports.map(({ window }) => window),
    reports.map(({ more }) => more),
    reports.map(({ endsAtMs }) => endsAtMs),
  ]
  const { rows } = await readOrFault('counts of requests', () =>
    database.executeQuery<RateCountTotal>(CompiledQuery.raw(shareCall, columns)),
  )
  return rows
}
