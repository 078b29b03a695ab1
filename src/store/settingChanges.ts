import { assert } from '@tollbook/core/assert'
import type { SettingChanged } from '../payment/events/settingEvents.ts'
import type { SettingDecision } from '../settings/settings.ts'
import type { Database, DatabaseOptions } from './database.ts'
import { readDatabaseClockMs } from './databaseFacts.ts'
import { recordBody } from './recordBody.ts'
import { openFitting } from './schemaVersion.ts'
import { encodeSetting, readVersions } from './settingStore.ts'

export interface SettingChangesOptions extends Pick<DatabaseOptions, 'log'> {
  /** Connection URL with a login of `tollbook_operator`, because the login of the service may not change settings. */
  readonly databaseUrl: string
}

export type SettingChanges = Awaited<ReturnType<typeof openSettingChanges>>

const connectionsMax = 1

export async function openSettingChanges({ databaseUrl, log }: SettingChangesOptions) {
  const options = { databaseUrl, applicationName: 'tollbook operator', connectionsMax, log }
  const database = await openFitting(options, 'OPERATOR_DATABASE_URL')
  return {
    versions: (names: readonly string[]) => readVersions(database, names),
    /** Current time by the clock of the database, because this clock also dates the events. */
    nowMs: () => readDatabaseClockMs(database),
    /** Undefined if another change took the version number first. */
    change: (decision: SettingDecision<SettingChanged>) => changeSetting(database, decision),
    close: () => database.destroy(),
  }
}

async function changeSetting(database: Database, decision: SettingDecision<SettingChanged>) {
  const recording = { call: 'change_setting', role: 'tollbook_operator', whenLost: 'run the command again' } as const
  const recorded = await recordBody(database, { ...recording, bodies: [encodeSetting(decision)] })
  if (recorded.refusal === 'conflict' || recorded.refusal === 'guard') return undefined
  assert(recorded.refusal === undefined, `a change of a setting is not refused as ${recorded.refusal}`)
  return { position: recorded.position }
}
