import { sql } from 'kysely'
import { encodeBase64 } from '@tollbook/core/base64'
import { readCheckpoint } from '@tollbook/core/checkpoint'
import { type ClosingStatement, nextMonth } from '@tollbook/core/closingStatement'
import { isoTime } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { type Database, readOrFault } from '../../store/database.ts'
import { newestCheckpoint } from '../../store/sealStore.ts'
import { lastPositionOf } from '../export/exportRange.ts'
import type { Snapshot } from '../export/snapshot.ts'
import type { LedgerToken } from '../ledgerToken.ts'
import { reportPosition } from '../rollUp.ts'
import { type DayPrice, picoUsdAt, pricedBy, priceOn } from '../dayPrice.ts'
import { closingFigures, type ClosingLine } from './closingFigures.ts'
import { lateEntries } from './lateEntries.ts'

export interface ClosingQuestion {
  readonly token: LedgerToken
  /** `2026-10`, in UTC. */
  readonly month: string
  readonly nowMs: number
}

/** A statement without its signature, and the signed note of its checkpoint. */
export interface UnsignedClosing {
  readonly statement: ClosingStatement
  readonly checkpoint: string
}

const dayMs = 86_400_000
// Clocks of the service and of the database differ; an event of the month may still be recorded for as long.
const clockToleranceMs = 10 * 60_000

/** Reads one snapshot, so that figures, late entries and checkpoint fit. */
export function readClosing(database: Database, question: ClosingQuestion): Promise<UnsignedClosing> {
  return readOrFault('the closing statement', () =>
    database
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((snapshot) => statementIn(snapshot, question)),
  )
}

async function statementIn(snapshot: Snapshot, question: ClosingQuestion): Promise<UnsignedClosing> {
  const { token, month, nowMs } = question
  const { position: rolledUp, headPosition } = await reportPosition(snapshot)
  const closesAtMs = closeOf(month)
  const isFinal = nowMs >= closesAtMs + clockToleranceMs
  const cut = async (closeMs: number) =>
    nowMs < closeMs + clockToleranceMs
      ? rolledUp
      : lastPositionOf(snapshot, { kind: 'moment', ms: closeMs }, headPosition)
  const range = {
    ...daysOf(month),
    mint: token.mint,
    opening: await cut(closeOf(previousMonth(month))),
    position: await cut(closesAtMs),
  }
  if (rolledUp < range.position) throw retryLater(`the reports have reached position ${rolledUp} of ${range.position}`)
  const checkpoint = await newestCheckpoint(snapshot)
  const content = checkpoint === undefined ? undefined : readCheckpoint(checkpoint.note)
  if (checkpoint === undefined || content === undefined || checkpoint.size < range.position)
    throw retryLater(`the events are sealed up to position ${checkpoint?.size ?? 0} of ${range.position}`)
  const { size: treeSize, root, note } = checkpoint
  const price = await priceOn(snapshot, { mint: token.mint, day: range.to })
  const restated = await lateEntries(snapshot, {
    ...range,
    after: range.opening,
    upto: range.position,
    before: range.from,
  })
  const later = await lateEntries(snapshot, {
    ...range,
    after: range.position,
    upto: treeSize,
    before: dayAfter(range.to),
  })
  const statement: ClosingStatement = {
    format: 'tollbook-closing',
    version: 1,
    origin: content.origin,
    ...token,
    month,
    status: isFinal ? 'final' : 'preliminary',
    closesAt: isoTime(closesAtMs),
    position: range.position,
    treeSize,
    root: encodeBase64(root),
    closingPrice: price === undefined ? null : shownPrice(price),
    ...closingFigures(await readLines(snapshot, range), price),
    restated: restated.entries,
    restatedCount: restated.count,
    recordedLater: later.entries,
    recordedLaterCount: later.count,
    issuedAt: isoTime(nowMs),
  }
  return { statement, checkpoint: note }
}

function retryLater(what: string): Fault {
  return new Fault(`${what}; try again in 2 s, and see that the service runs`, { retryable: true })
}

/** A day after the month, in UTC: reports.month_closed_at. */
function closeOf(month: string): number {
  return Date.parse(`${nextMonth(month)}-01T00:00:00.000Z`) + dayMs
}

function previousMonth(month: string): string {
  return isoTime(Date.parse(`${month}-01T00:00:00.000Z`) - dayMs).slice(0, 7)
}

function daysOf(month: string): { readonly from: string; readonly to: string } {
  return { from: `${month}-01`, to: isoTime(Date.parse(`${nextMonth(month)}-01T00:00:00.000Z`) - dayMs).slice(0, 10) }
}

function dayAfter(day: string): string {
  return isoTime(Date.parse(`${day}T00:00:00.000Z`) + dayMs).slice(0, 10)
}

function shownPrice({ day, priceMicroUsd, forBaseUnits }: DayPrice): ClosingStatement['closingPrice'] {
  return { day, priceMicroUsd: priceMicroUsd.toString(), forBaseUnits: forBaseUnits.toString() }
}

interface Range {
  readonly mint: string
  readonly from: string
  readonly to: string
  /** Last position of the month before. */
  readonly opening: number
  readonly position: number
}

interface LineRow {
  readonly part: ClosingLine['part']
  readonly kind: string
  readonly account: string
  readonly debits: string
  readonly credits: string
  readonly quoted: string
  readonly day_debits: string
  readonly day_credits: string
}

/** Sums of days, less the entries that were recorded after the close of the month. */
async function readLines(snapshot: Snapshot, range: Range): Promise<readonly ClosingLine[]> {
  const { mint, from, to, opening, position } = range
  const { rows } = await sql<LineRow>`
    with rolled as materialized (
      select day, kind, account, sum(debits) as debits, sum(credits) as credits, sum(value_pico_usd) as quoted
      from reports.daily_totals
      where mint = ${mint} and day > '-infinity' and day <= ${to}::date
      group by day, kind, account
    ),
    late as materialized (
      select seq, day, kind, account, debits, credits, value_pico_usd as quoted
      from reports.late_entries
      where mint = ${mint} and day <= ${to}::date
    ),
    moved as (
      select case when day < ${from}::date then 'opening' else 'month' end as part, day, kind, account, debits, credits, quoted
      from rolled
      union all
      select 'opening', day, kind, account, -debits, -credits, -quoted from late where day < ${from}::date and seq > ${opening}
      union all
      select 'restated', day, kind, account, debits, credits, quoted from late
      where day < ${from}::date and seq > ${opening} and seq <= ${position}
      union all
      select 'month', day, kind, account, -debits, -credits, -quoted from late where day >= ${from}::date and seq > ${position}
    ),
    prices as materialized (
      select d.day, p.price_micro_usd, p.required
      from (select distinct day from moved) d
      cross join lateral (${pricedBy(mint, sql`d.day`)}) p
    )
    select m.part, m.kind, m.account, sum(m.debits)::text as debits, sum(m.credits)::text as credits, sum(m.quoted)::text as quoted,
      coalesce(sum(${picoUsdAt('p', sql`m.debits`)}), 0)::text as day_debits,
      coalesce(sum(${picoUsdAt('p', sql`m.credits`)}), 0)::text as day_credits
    from moved m
    left join prices p on p.day = m.day
    group by m.part, m.kind, m.account`.execute(snapshot)
  return rows.map((row) => ({
    part: row.part,
    kind: row.kind,
    account: row.account,
    debitBaseUnits: BigInt(row.debits),
    creditBaseUnits: BigInt(row.credits),
    quotedPicoUsd: BigInt(row.quoted),
    debitDayPicoUsd: BigInt(row.day_debits),
    creditDayPicoUsd: BigInt(row.day_credits),
  }))
}
