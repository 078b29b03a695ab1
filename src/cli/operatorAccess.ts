import { readConfig } from '../config.ts'
import { silentLog } from '../machine/log.ts'
import { openSettingChanges, type SettingChanges } from '../store/settingChanges.ts'
import type { CommandDeps } from './commandDeps.ts'
import { readLocal } from './localJson.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

/** Opens the ledger as its operator, with OPERATOR_DATABASE_URL or the database of local mode. */
export async function openOperatorAccess(deps: Pick<CommandDeps, 'home'>): Promise<SettingChanges> {
  const { operatorDatabaseUrl } = readConfig()
  const databaseUrl = operatorDatabaseUrl ?? (await readLocal(deps))?.adminDatabaseUrl
  if (databaseUrl === undefined || databaseUrl === null)
    throw new UsageProblem('OPERATOR_DATABASE_URL', 'is missing: a login that is a member of tollbook_operator')
  return openSettingChanges({ databaseUrl, log: silentLog })
}
