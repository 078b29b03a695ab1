import { Fault } from '@tollbook/core/fault'
import { walSlot } from '../store/databaseFacts.ts'
import { createFolder } from '../machine/createFolder.ts'
import { libpqEnvironment } from './libpqEnvironment.ts'
import { explainToolFailure, requireTools, toolPath } from './postgresTools.ts'
import { runTool } from './runTool.ts'
import type { BackupOrder } from './takeBackup.ts'

export type WalOrder = Omit<BackupOrder, 'count' | 'nowMs'>

/** Receives the write-ahead log as it is written, until the command is interrupted. pg_receivewal connects again by itself. */
export async function receiveWal(order: WalOrder): Promise<void> {
  const { databaseUrl, folder, toolsFolder, interrupted, onMessage } = order
  const tools = await requireTools({ toolsFolder, programs: ['pg_receivewal'] })
  await createFolder(folder.path, 'BACKUP_DIR')
  await createFolder(folder.walFolder, 'BACKUP_DIR')
  const program = toolPath(tools, 'pg_receivewal')
  const environment = { ...libpqEnvironment(databaseUrl), PGAPPNAME: walSlot }
  const words = ['--directory', folder.walFolder, '--slot', walSlot, '--no-password']
  const created = await runTool({
    program,
    environment,
    arguments: [...words, '--create-slot', '--if-not-exists'],
    interrupted,
  })
  if (created.exitCode !== 0) throw new Fault(explainToolFailure(program, created.output), { retryable: true })
  // Flushed at once, so that the server may wait for it (synchronous_standby_names).
  const ended = await runTool({ program, environment, arguments: [...words, '--synchronous'], interrupted, onMessage })
  if (interrupted.aborted) return
  throw new Fault(explainToolFailure(program, ended.output), { retryable: true })
}
