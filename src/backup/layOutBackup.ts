import { appendFile, chmod, constants, cp, lchown, mkdir, readdir, rm, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import { createFolder } from '../machine/createFolder.ts'
import { type BackupFolder, bytesIn, bytesOf, listWal, startSegmentOf } from './backupFolder.ts'

/** A base backup to lay out as a data directory. */
export interface Layout {
  /** The folder of one base backup. */
  readonly backup: string
  readonly folder: BackupFolder
  /** Absent or empty. */
  readonly dataDirectory: string
  readonly sizeSetting: string
  /** The replay ends here. Undefined: at the end of the received log. */
  readonly targetMs?: number | undefined
}

/** Copies a backup into a data directory that Postgres can start in. Returns whether received write-ahead log is replayed. */
export async function layOutBackup({ backup, folder, dataDirectory, sizeSetting, targetMs }: Layout): Promise<boolean> {
  await refuseTablespaces(backup)
  await refuseFiles(dataDirectory)
  const wal = await walSince(backup, folder)
  if (targetMs !== undefined && wal.length === 0) throw new Fault(needsWal, { retryable: false })
  const neededBytes = (await bytesIn(backup)) + (await bytesOf(wal.map((name) => join(folder.walFolder, name))))
  await createFolder(dataDirectory, sizeSetting)
  await requireSpace(neededBytes + freeBytesMin, { folder: dirname(dataDirectory), sizeSetting })
  await cp(backup, dataDirectory, { recursive: true, preserveTimestamps: true, mode: constants.COPYFILE_FICLONE })
  // Postgres refuses a directory that others may enter.
  await chmod(dataDirectory, 0o700)
  for (const name of ['standby.signal', 'recovery.signal', 'postmaster.pid', 'postmaster.opts'])
    await rm(join(dataDirectory, name), { force: true })
  if (wal.length === 0) return false
  await mkdir(join(dataDirectory, walName))
  for (const name of wal) await copyWal(name, { from: folder.walFolder, to: join(dataDirectory, walName) })
  await writeFile(join(dataDirectory, 'recovery.signal'), '')
  await appendFile(
    join(dataDirectory, 'postgresql.auto.conf'),
    `restore_command = '${restoreCommand}'\nrecovery_target_timeline = 'latest'\nrecovery_end_command = 'rm -r ${walName}'\n${targetOf(targetMs)}`,
  )
  return true
}

const needsWal =
  '--target-time needs the received write-ahead log: a base backup alone has one state (`tollbook backup wal`)'

/** Postgres stops the replay after the last commit at or before the time, and takes commits from then on. */
function targetOf(targetMs: number | undefined): string {
  if (targetMs === undefined) return ''
  // In numbers: Postgres reads this setting before it knows the names of time zones, `Z` included.
  const time = new Date(targetMs).toISOString().replace('T', ' ').replace('Z', '+00')
  return `recovery_target_time = '${time}'\nrecovery_target_action = 'promote'\n`
}

/*
 * The received log is copied into the data directory: the account of Postgres may not be able to read BACKUP_DIR. Postgres runs
 * both commands in its data directory.
 */
const walName = 'received_wal'

/** The segment that was being received has another name, and ends where the log ends. */
export const restoreCommand = `cp ${walName}/%f "%p" 2>/dev/null || cp ${walName}/%f.partial "%p"`

/** A segment that is complete by now has lost its suffix meanwhile. */
async function copyWal(name: string, { from, to }: { from: string; to: string }): Promise<void> {
  const copy = (found: string) => cp(join(from, found), join(to, found), { mode: constants.COPYFILE_FICLONE })
  const complete = name.replace(/\.partial$/, '')
  await copy(name).catch((error: unknown) => {
    if (complete === name) throw error
    return copy(complete)
  })
}

/** Histories of timelines, and the log since the backup began. */
async function walSince(backup: string, folder: BackupFolder): Promise<readonly string[]> {
  const start = await startSegmentOf(backup)
  const names = await listWal(folder)
  const segments = names.filter((name) => !name.endsWith('.history') && name.slice(8, 24) >= start.slice(8))
  return segments.length === 0 ? [] : [...names.filter((name) => name.endsWith('.history')), ...segments]
}

/** Their links lead to the folders of the original cluster, which a second server would change. */
async function refuseTablespaces(backup: string): Promise<void> {
  const links = await readdir(join(backup, 'pg_tblspc')).catch(() => [])
  if (links.length === 0) return
  throw new Fault(
    `${backup} has ${links.length} tablespaces outside of its folder: restore it by hand, or with pgBackRest (docs/operations.md)`,
    { retryable: false },
  )
}

async function refuseFiles(dataDirectory: string): Promise<void> {
  const names = await readdir(dataDirectory).catch(() => [])
  if (names.length === 0) return
  throw new Fault(`${dataDirectory} is not empty: name a folder that is empty or does not exist`, { retryable: false })
}

const freeBytesMin = 256 * 1024 ** 2

async function requireSpace(
  neededBytes: number,
  { folder, sizeSetting }: { folder: string; sizeSetting: string },
): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const freeBytes = bavail * bsize
  if (freeBytes >= neededBytes) return
  throw new Fault(
    `${folder} has ${inMegabytes(freeBytes)} MB free, and the restored cluster needs ${inMegabytes(neededBytes)} MB: name a larger disk with ${sizeSetting}`,
    { retryable: false },
  )
}

function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000)
}

/** For root, who must not run Postgres. */
export async function changeOwner(owner: { uid: number; gid: number }, folder: string): Promise<void> {
  const inside = await readdir(folder, { recursive: true })
  for (const name of [...inside, '.']) await lchown(join(folder, name), owner.uid, owner.gid)
}
