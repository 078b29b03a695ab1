import { Fault } from '@tollbook/core/fault'
import { openSettings } from '../start/ledger/openSettings.ts'
import { requireStoredCheckpoint } from '../store/checkpointFile.ts'
import type { Database } from '../store/database.ts'
import { readVersions } from '../store/settingStore.ts'
import { type Check, type Installation, passed, type Result, skipped } from './check.ts'

/** Uses the checks of the service's start, but records nothing. */
export function ledgerChecks(options: Installation) {
  const { database, config } = options
  const settings: Check = { name: 'settings on record', run: () => checkSettings(options) }
  const checkpoint: Check = { name: 'checkpoint', run: () => checkCheckpoint(database, config.seal.checkpointFile) }
  return { settings, checkpoint }
}

async function checkSettings({ config, database, chain, clock, log }: Installation): Promise<Result> {
  const { terms, dollars } = await chain()
  // The command changes nothing. The first start of the service records the settings.
  const record = () => Promise.reject(new Fault('tollbook doctor records nothing', { retryable: false }))
  const versions = (names: readonly string[]) => readVersions(database, names)
  const ledger = { settings: { versions, record } }
  const settings = await openSettings(config, { clock, log, terms, dollars, ledger })
  const isNew = settings.periods('receipt-key').length === 0
  await settings.close()
  return passed(isNew ? 'none yet: the first start records them' : 'receipt key, wallet, mint, split and origin agree')
}

async function checkCheckpoint(database: Database, file: string | undefined): Promise<Result> {
  if (file === undefined) return skipped('CHECKPOINT_FILE is not set')
  await requireStoredCheckpoint(database, file)
  return passed(`the ledger continues the checkpoint in ${file}`)
}
