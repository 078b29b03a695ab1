import { sql } from 'kysely'
import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { SettingChanged } from '../payment/events/settingEvents.ts'
import type { SettingDecision } from '../settings/settings.ts'
import { type Database, isDenied, openDatabase, readOrFault } from './database.ts'
import { checkSchemaVersion } from './schemaVersion.ts'
import { encodeSetting, readVersions, type SettingVersions } from './settingStore.ts'

export interface SettingChangesOptions extends Pick<Parameters<typeof openDatabase>[0], 'log'> {
  /** A login that is a member of `tollbook_operator`. */
  readonly databaseUrl: string
}

/** The operator's access to the settings of the ledger. */
export interface SettingChanges {
  versions(names: readonly string[]): Promise<SettingVersions>
  /** Time on the clock of the database, which positions of events follow. */
  nowMs(): Promise<number>
  /** Undefined when another change took the number first. */
  change(decision: SettingDecision<SettingChanged>): Promise<{ readonly position: number } | undefined>
  close(): Promise<void>
}

const connectionsMax = 1

/** Access for operators. Throws a `Fault` when the login does not work or the schema does not fit this program. */
export async function openSettingChanges({ databaseUrl, log }: SettingChangesOptions): Promise<SettingChanges> {
  const database = openDatabase({ databaseUrl, applicationName: 'tollbook operator', connectionsMax, log })
  try {
    const schema = await checkSchemaVersion(database)
    if (!schema.fits) throw new Fault(schema.advice, { retryable: false })
  } catch (error) {
    await database.destroy()
    throw error instanceof Fault
      ? error
      : new Fault('the database of OPERATOR_DATABASE_URL cannot be reached', { cause: error, retryable: true })
  }
  return {
    versions: (names) => readVersions(database, names),
    nowMs: () => readOrFault('the time of the database', () => databaseTimeMs(database)),
    change: (decision) => changeSetting(database, decision),
    close: () => database.destroy(),
  }
}

async function databaseTimeMs(database: Database): Promise<number> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(database)
  return assertPresent(rows[0], 'a select of one row has one').now.getTime()
}

async function changeSetting(database: Database, decision: SettingDecision<SettingChanged>) {
  const body = Buffer.from(encodeSetting(decision), 'utf8')
  const row = await callChange(database, body)
  if (row?.refusal === 'conflict' || row?.refusal === 'guard') return undefined
  assert(row?.refusal === null, `a change of a setting is not refused as ${row?.refusal}`)
  return { position: assertPresent(row.seq, 'a recorded change has a position') }
}

async function callChange(database: Database, body: Buffer) {
  try {
    const { rows } = await sql<{ refusal: string | null; seq: number | null }>`
      select refusal, seq from ledger.change_setting(${body})`.execute(database)
    return rows[0]
  } catch (error) {
    if (isDenied(error))
      throw new Fault('the login of OPERATOR_DATABASE_URL is not a member of tollbook_operator', {
        cause: error,
        retryable: false,
      })
    throw new Fault('the ledger did not report whether it took the change; run the command again', {
      cause: error,
      retryable: true,
    })
  }
}
