import { openDiagnosis, type OpenDiagnosis } from '../diagnosis/openDiagnosis.ts'
import { silentLog } from '../machine/log.ts'
import type { CommandDeps } from './commandDeps.ts'
import { chainOf, type Installation, readInstallation, requireLogin } from './installation.ts'
import { runWith } from './runCommand.ts'

/** Reads the environment or the facts of local mode, so that one command works in both. Sets the exit code. */
export function withDiagnosis(
  deps: CommandDeps,
  login: 'reader' | 'finance',
  work: (diagnosis: OpenDiagnosis) => Promise<number>,
): Promise<void> {
  const open = async () => {
    const installation = await readInstallation(deps)
    return openDiagnosis({
      databaseUrl: databaseUrlOf(installation, login),
      chain: chainOf(installation),
      limits: installation.config.refunds.limits,
      log: silentLog,
      clock: deps.clock,
    })
  }
  return runWith(deps, open, work)
}

function databaseUrlOf({ config, local }: Installation, login: 'reader' | 'finance'): string {
  return login === 'finance'
    ? requireLogin(config.refunds.databaseUrl ?? local?.adminDatabaseUrl, ['FINANCE_DATABASE_URL', 'tollbook_finance'])
    : requireLogin(config.ledger?.databaseUrl ?? local?.databaseUrl, ['DATABASE_URL', 'tollbook_reader'])
}
