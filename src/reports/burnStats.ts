import { sql } from 'kysely'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { encodeBase64 } from '@tollbook/core/base64'
import type { Json } from '@tollbook/core/canonicalJson'
import { displayNumber } from '@tollbook/core/money'
import { type Database, readOrFault } from '../store/database.ts'
import { newestCheckpoint } from '../store/sealStore.ts'

export interface BurnStatsQuestion {
  readonly mint: string
  readonly decimals: number
}

interface Burned {
  readonly tokens: number
  readonly baseUnits: string
  readonly payments: number
}

const dayMs = 24 * 60 * 60 * 1000
const daysShown = 90

/**
 * What was burned: in all, lately, by endpoint and by day. Read from a projection that is written together with the
 * events, so it costs the same whether the ledger has a thousand payments or a million.
 */
export async function burnStats(
  deps: { database: Database; clock: Clock },
  { mint, decimals }: BurnStatsQuestion,
): Promise<Json> {
  const nowMs = deps.clock.nowMs()
  const rows = await readOrFault('burn statistics', () => readRows(deps.database, mint, nowMs))
  const sealed = await readOrFault('the newest checkpoint', () => newestCheckpoint(deps.database))
  const show = (chosen: readonly Row[]): Json => ({ ...shown(chosen, decimals) })
  const days = rows.filter((row) => row.span === 'day')
  const since = (span: readonly Row[], ms: number) => span.filter((row) => row.starts_at.getTime() > nowMs - ms)
  return {
    mint,
    decimals,
    total: show(rows.filter((row) => row.span === 'all' && row.endpoint === '')),
    last24Hours: show(
      since(
        rows.filter((row) => row.span === 'hour'),
        dayMs,
      ),
    ),
    last7Days: show(since(days, 7 * dayMs)),
    last30Days: show(since(days, 30 * dayMs)),
    byEndpoint: rows
      .filter((row) => row.span === 'all' && row.endpoint !== '')
      .map((row) => ({ endpoint: row.endpoint, ...shown([row], decimals) })),
    byDay: days.map((row) => ({ day: isoTime(row.starts_at.getTime()).slice(0, 10), ...shown([row], decimals) })),
    // Of the newest checkpoint: the figures may be up to a second ahead of it.
    ledger: { position: sealed?.size ?? 0, root: sealed === undefined ? null : encodeBase64(sealed.root) },
    asOf: isoTime(nowMs),
  }
}

interface Row {
  readonly span: 'all' | 'day' | 'hour'
  readonly starts_at: Date
  readonly endpoint: string
  readonly burned: string
  readonly payments: number
}

/** At most 90 days, 25 hours and one row for each endpoint: each range is one walk along the primary key. */
async function readRows(database: Database, mint: string, nowMs: number): Promise<readonly Row[]> {
  const day = new Date(nowMs - daysShown * dayMs)
  const hour = new Date(nowMs - dayMs)
  const { rows } = await sql<Row>`
    select span, case when span = 'all' then 'epoch' else starts_at end as starts_at, endpoint, burned, payments
    from ledger.burn_totals
    where mint = ${mint} and (span = 'all' or span = 'day' and starts_at > ${day} or span = 'hour' and starts_at > ${hour})
    order by span, starts_at desc, endpoint`.execute(database)
  return rows
}

function shown(rows: readonly Row[], decimals: number): Burned {
  const baseUnits = rows.reduce((sum, row) => sum + BigInt(row.burned), 0n)
  const payments = rows.reduce((sum, row) => sum + row.payments, 0)
  return { tokens: displayNumber(baseUnits, decimals), baseUnits: baseUnits.toString(), payments }
}
