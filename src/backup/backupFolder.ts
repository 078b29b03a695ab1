import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Fault } from '@tollbook/core/fault'

/*
 * Layout of BACKUP_DIR, shared with deploy/postgres/backup.sh: a folder for each verified base backup, named by its time, and
 * `wal` with the write-ahead log that `tollbook backup wal` receives. A name that begins with a dot is unfinished.
 */

/** Absolute paths of the base backups and of the received write-ahead log. */
export interface BackupFolder {
  readonly path: string
  readonly walFolder: string
}

export function backupFolderAt(path: string): BackupFolder {
  const absolute = resolve(path)
  return { path: absolute, walFolder: join(absolute, 'wal') }
}

const backupName = /^\d{8}T\d{6}Z$/

/** `20261122T161801Z`, which sorts by time. */
export function backupNameAt(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '')
}

/** Names of the backups, the newest first. */
export async function listBackups({ path }: BackupFolder): Promise<readonly string[]> {
  const names = await readdir(path).catch((error: unknown) => {
    throw new Fault(`${path} (BACKUP_DIR) cannot be read: make a backup with \`tollbook backup\``, {
      cause: error,
      retryable: false,
    })
  })
  return names
    .filter((name) => backupName.test(name))
    .toSorted()
    .toReversed()
}

/** The backup of that name, or the newest one, or the newest one that began before the target time. */
export async function findBackup(folder: BackupFolder, name: string | undefined, targetMs?: number): Promise<string> {
  const names = await listBackups(folder)
  const isEarly = (known: string) => targetMs === undefined || known <= backupNameAt(targetMs)
  const found = names.find((known) => (name === undefined ? isEarly(known) : known === name))
  if (found !== undefined) return join(folder.path, found)
  const known = names.length === 0 ? 'has no backup: make one with `tollbook backup`' : `has ${names.join(', ')}`
  const asked = name === undefined ? '' : ` (got ${name})`
  const before = targetMs === undefined || names.length === 0 ? asked : ', and none from before --target-time'
  throw new Fault(`${folder.path} (BACKUP_DIR) ${known}${before}`, { retryable: false })
}

/** Removes all but the newest backups, and returns the names of the removed ones. */
export async function removeOldBackups(folder: BackupFolder, count: number): Promise<readonly string[]> {
  const old = (await listBackups(folder)).slice(count)
  for (const name of old) await rm(join(folder.path, name), { recursive: true, force: true })
  return old
}

/** Major version of the server that a backup was made of. */
export async function majorVersionOf(backup: string): Promise<number> {
  const text = await readFile(join(backup, 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    throw new Fault(`${backup} is not a base backup: it has no PG_VERSION`, { cause: error, retryable: false })
  })
  return Number.parseInt(text, 10)
}

/** The file of the write-ahead log at which a restore of this backup begins. */
export async function startSegmentOf(backup: string): Promise<string> {
  const label = await readFile(join(backup, 'backup_label'), 'utf8').catch(() => '')
  const segment = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)/m.exec(label)?.[1]
  if (segment !== undefined) return segment
  throw new Fault(`${backup} is not a base backup: its backup_label names no start`, { retryable: false })
}

/** Names in the folder of the write-ahead log; none if it was never received. */
export async function listWal({ walFolder }: BackupFolder): Promise<readonly string[]> {
  const names = await readdir(walFolder).catch(() => [])
  return names.filter((name) => /^[0-9A-F]{24}(\.partial)?$|^[0-9A-F]{8}\.history$/.test(name)).toSorted()
}

/** Size of all files below the folder. */
export async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return bytesOf(files.map(({ parentPath, name }) => join(parentPath, name)))
}

export async function bytesOf(paths: readonly string[]): Promise<number> {
  let bytes = 0
  for (const path of paths) bytes += (await stat(path)).size
  return bytes
}
