import { AuditFault } from './auditFault.ts'
import { readRows } from './copyRow.ts'
import type { CopyBlock } from './copyOut.ts'
import type { DatabaseSource } from './databaseSource.ts'
import type { Replay } from './replay.ts'
import { reportsQuery } from './reportsQuery.ts'

/* Compares the report tables of the finance team with the content that follows from the events. */

export const reportTables = [
  'progress',
  'payments',
  'daily_totals',
  'wallet_totals',
  'payment_totals',
  'payouts',
  'refunds',
  'late_entries',
  'day_prices',
]

/** Result of the query that derives the reports, while it runs. Undefined if the role may not read the reports. */
export type DerivedReports = AsyncGenerator<CopyBlock> | undefined

/** Starts the query that derives the reports in a separate session, so that it runs during the replay. */
export async function deriveReports(source: DatabaseSource): Promise<DerivedReports> {
  for (const table of reportTables) if (!(await source.mayRead(`reports.${table}`))) return undefined
  return source.copyBeside(reportsQuery)
}

/**
 * Compares the reports with the derived rows. Returns the position that the reports state, -1 if they state none.
 * Undefined if damaged bodies prevent the derivation.
 */
export async function matchReports(
  replay: Replay,
  source: DatabaseSource,
  derived: AsyncGenerator<CopyBlock>,
): Promise<number | undefined> {
  try {
    await matchRows(replay, derived)
  } catch (error) {
    // Ignore the failure if the replay found damaged bodies, because Postgres parses bodies as JSON and stops at the
    // first invalid one.
    if (error instanceof AuditFault && replay.findings.countOf('integrity') > 0) return undefined
    throw error
  }
  return matchProgress(replay, source)
}

async function matchRows({ findings }: Replay, derived: AsyncGenerator<CopyBlock>): Promise<void> {
  await readRows(derived, (row) => {
    const place = row.int64()
    const [name, subject, found, right] = [row.text(), row.text(), row.text(), row.text()]
    const message = `the row has ${found ?? 'nothing'}, the events give ${right ?? 'nothing'}`
    findings.add('report_differs', {
      position: Number.isNaN(place) ? undefined : place,
      subject: `${name} ${subject}`,
      message,
    })
  })
}

async function matchProgress({ findings, position: lastPosition }: Replay, source: DatabaseSource): Promise<number> {
  const progress = await source.rows<{ upto_seq: string }>('select upto_seq from reports.progress')
  const upto = Number(progress[0]?.upto_seq ?? -1)
  if (progress.length !== 1 || upto < 0 || upto > lastPosition) {
    const message = `the reports have reached position ${progress[0]?.upto_seq ?? 'none'} of ${lastPosition}`
    findings.add('report_differs', { position: undefined, subject: 'reports.progress', message })
  }
  return upto
}
