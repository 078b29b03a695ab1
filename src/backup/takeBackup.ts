import { access, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import {
  type BackupFolder,
  backupNameAt,
  bytesIn,
  listBackups,
  listWal,
  majorVersionOf,
  removeOldBackups,
  startSegmentOf,
} from './backupFolder.ts'
import { createFolder } from '../machine/createFolder.ts'
import { libpqEnvironment } from './libpqEnvironment.ts'
import { explainToolFailure, findTools, requireTools, toolPath } from './postgresTools.ts'
import { runTool, type ToolCall } from './runTool.ts'

export interface BackupOrder {
  readonly databaseUrl: string
  readonly folder: BackupFolder
  readonly toolsFolder: string | undefined
  /** Base backups that are kept, this one included. */
  readonly count: number
  readonly nowMs: number
  readonly interrupted: AbortSignal
  readonly onMessage: (text: string) => void
}

/** `removed` lists the older base backups that were deleted. */
export interface TakenBackup {
  readonly path: string
  readonly bytes: number
  readonly removed: readonly string[]
}

/** A base backup with the write-ahead log that it needs, verified, under its name only when it is whole. */
export async function takeBackup(order: BackupOrder): Promise<TakenBackup> {
  const { databaseUrl, folder, toolsFolder, onMessage } = order
  const tools = await requireTools({ toolsFolder, programs: ['pg_basebackup'] })
  await createFolder(folder.path, 'BACKUP_DIR')
  const name = backupNameAt(order.nowMs)
  const unfinished = join(folder.path, `.${name}`)
  const path = join(folder.path, name)
  await claimFolder(unfinished)
  try {
    if (await exists(path)) throw new Fault(`${path} exists already: run the command again`, { retryable: true })
    await run(order, {
      program: toolPath(tools, 'pg_basebackup'),
      arguments: [
        `--pgdata=${unfinished}`,
        '--checkpoint=fast',
        '--wal-method=stream',
        '--manifest-checksums=SHA256',
        '--no-password',
        '--progress',
      ],
      environment: { ...libpqEnvironment(databaseUrl), PGAPPNAME: 'tollbook backup' },
      onMessage,
    })
    await verifyBackup(order, unfinished)
    await rename(unfinished, path)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  const removed = await removeOldBackups(folder, order.count)
  await removeOldWal(order)
  return { path, bytes: await bytesIn(path), removed }
}

/**
 * Creates the folder, which must not exist: the command of another host may have begun in the same second, and each command removes
 * its own folder in the end. A folder that a killed command left has the name of an earlier second.
 */
async function claimFolder(unfinished: string): Promise<void> {
  try {
    // The rights that Postgres requires of a data directory.
    await mkdir(unfinished, { mode: 0o700 })
  } catch (cause) {
    if (!(await exists(unfinished))) throw cause
    throw new Fault(`another backup is being written to ${unfinished}`, { cause, retryable: true })
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Compares every file with the manifest, and reads the write-ahead log where the programs of its version are there. */
export async function verifyBackup(
  order: Pick<BackupOrder, 'toolsFolder' | 'interrupted'>,
  backup: string,
): Promise<void> {
  const { toolsFolder } = order
  const programs = ['pg_verifybackup', 'pg_waldump']
  const matching = await findTools({ toolsFolder, programs, majorVersion: await majorVersionOf(backup) })
  const tools = matching ?? (await requireTools({ toolsFolder, programs: ['pg_verifybackup'] }))
  await run(order, {
    program: toolPath(tools, 'pg_verifybackup'),
    // Another version cannot read the log; the manifest still covers its files.
    arguments: ['--quiet', ...(matching === undefined ? ['--no-parse-wal'] : []), backup],
  })
}

/** The log before the oldest backup that is left is of no use. */
async function removeOldWal(order: BackupOrder): Promise<void> {
  const { folder, toolsFolder } = order
  const oldest = (await listBackups(folder)).at(-1)
  if (oldest === undefined || (await listWal(folder)).length === 0) return
  const tools = await requireTools({ toolsFolder, programs: ['pg_archivecleanup'] })
  const start = await startSegmentOf(join(folder.path, oldest))
  await run(order, { program: toolPath(tools, 'pg_archivecleanup'), arguments: [folder.walFolder, start] })
}

async function run({ interrupted }: Pick<BackupOrder, 'interrupted'>, call: ToolCall): Promise<void> {
  const { exitCode, output } = await runTool({ ...call, interrupted })
  if (interrupted.aborted) throw new Fault('interrupted: no backup was made', { retryable: true })
  if (exitCode === 0) return
  throw new Fault(explainToolFailure(call.program, output), { retryable: true })
}
