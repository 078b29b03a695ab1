import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  backupFolderAt,
  backupNameAt,
  findBackup,
  listWal,
  removeOldBackups,
  startSegmentOf,
} from '../../src/backup/backupFolder.ts'
import { describeVerdict, judgeDrill } from '../../src/backup/drillVerdict.ts'
import { layOutBackup } from '../../src/backup/layOutBackup.ts'
import { libpqEnvironment } from '../../src/backup/libpqEnvironment.ts'
import { explainToolFailure, requireTools } from '../../src/backup/postgresTools.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const label = 'START WAL LOCATION: 0/3000028 (file 000000010000000000000003)\nBACKUP METHOD: streamed\n'

async function makeBackup(folder: string, name: string): Promise<string> {
  const backup = join(folder, name)
  await mkdir(join(backup, 'pg_tblspc'), { recursive: true })
  await writeFile(join(backup, 'PG_VERSION'), '17\n')
  await writeFile(join(backup, 'backup_label'), label)
  await writeFile(join(backup, 'standby.signal'), '')
  return backup
}

test('backups are named by their time, and the newest ones are kept', async () => {
  const folder = backupFolderAt(await makeScratchDirectory())
  const names = [0, 1, 2].map((hour) => backupNameAt(Date.UTC(2026, 10, 22, hour, 5, 9)))
  expect(names[0]).toBe('20261122T000509Z')
  for (const name of [...names, '.20261122T030509Z', 'wal', 'notes']) await mkdir(join(folder.path, name))
  expect(await removeOldBackups(folder, 2)).toEqual([names[0]])
  expect((await readdir(folder.path)).toSorted()).toEqual(['.20261122T030509Z', names[1], names[2], 'notes', 'wal'])
  expect(await findBackup(folder, undefined)).toBe(join(folder.path, names[2] ?? ''))
  const half = Date.UTC(2026, 10, 22, 1, 30)
  expect(await findBackup(folder, undefined, half)).toBe(join(folder.path, names[1] ?? ''))
  await expect(findBackup(folder, undefined, Date.UTC(2026, 10, 21))).rejects.toThrow('none from before --target-time')
  await expect(findBackup(folder, '../other')).rejects.toThrow(`has ${names[2]}, ${names[1]} (got ../other)`)
})

test('a password is in the environment of a program and in none of its arguments', () => {
  const url = 'postgres://tollbook_backup:p%40ss@[::1]:6432/tollbook?sslmode=verify-full&sslrootcert=/ca.pem&x=1'
  expect(libpqEnvironment(url)).toEqual({
    PGHOST: '::1',
    PGPORT: '6432',
    PGUSER: 'tollbook_backup',
    PGPASSWORD: 'p@ss',
    PGSSLMODE: 'verify-full',
    PGSSLROOTCERT: '/ca.pem',
  })
})

test('a missing program is named with its package, its version and the setting', async () => {
  const toolsFolder = await makeScratchDirectory()
  await expect(requireTools({ toolsFolder, programs: ['postgres'], majorVersion: 17 })).rejects.toThrow(
    `postgres of PostgreSQL 17 not found in ${toolsFolder} (BACKUP_TOOLS_DIR): install them (Debian: postgresql-17)`,
  )
})

test('common failures of the programs say what to do', () => {
  const failures = {
    'pg_basebackup: error: incompatible server version 17.2': 'Install the programs of the version of the server',
    'could not write: No space left on device': 'set BACKUP_DIR to a larger disk',
    'FATAL: no pg_hba.conf entry for replication connection': 'host replication <login>',
  }
  for (const [output, advice] of Object.entries(failures)) {
    const text = explainToolFailure('/usr/bin/pg_basebackup', output)
    expect(text).toContain(`pg_basebackup failed: ${output}\n`)
    expect(text).toContain(advice)
  }
})

test('a backup becomes a data directory with the log that was received since it began', async () => {
  const folder = backupFolderAt(await makeScratchDirectory())
  const backup = await makeBackup(folder.path, '20261122T000509Z')
  const dataDirectory = join(folder.path, 'restored')
  const before = '000000010000000000000002'
  const since = ['000000010000000000000003', '000000020000000000000004.partial', '00000002.history']
  await mkdir(folder.walFolder)
  for (const name of [before, ...since, 'notes']) await writeFile(join(folder.walFolder, name), name)
  expect(await startSegmentOf(backup)).toBe('000000010000000000000003')
  expect(await listWal(folder)).toEqual([before, since[0], since[2], since[1]])
  expect(await layOutBackup({ backup, folder, dataDirectory, sizeSetting: '--into' })).toBe(true)
  expect((await readdir(join(dataDirectory, 'received_wal'))).toSorted()).toEqual(since.toSorted())
  const names = await readdir(dataDirectory)
  expect([names.includes('recovery.signal'), names.includes('standby.signal')]).toEqual([true, false])
  expect(await readFile(join(dataDirectory, 'postgresql.auto.conf'), 'utf8')).toContain('cp received_wal/%f.partial')
  await expect(layOutBackup({ backup, folder, dataDirectory, sizeSetting: '--into' })).rejects.toThrow('is not empty')
})

test('a target time ends the replay there, and needs the received log', async () => {
  const folder = backupFolderAt(await makeScratchDirectory())
  const backup = await makeBackup(folder.path, '20261122T000509Z')
  const order = { backup, folder, sizeSetting: '--into', targetMs: Date.UTC(2026, 10, 22, 1, 30) }
  const refused = layOutBackup({ ...order, dataDirectory: join(folder.path, 'refused') })
  await expect(refused).rejects.toThrow('--target-time needs the received write-ahead log')
  await mkdir(folder.walFolder)
  await writeFile(join(folder.walFolder, '000000010000000000000003'), 'log')
  const dataDirectory = join(folder.path, 'restored')
  await layOutBackup({ ...order, dataDirectory })
  expect(await readFile(join(dataDirectory, 'postgresql.auto.conf'), 'utf8')).toContain(
    "recovery_target_time = '2026-11-22 01:30:00.000+00'\nrecovery_target_action = 'promote'\n",
  )
})

test('a backup with tablespaces is refused: their links lead into the original cluster', async () => {
  const folder = backupFolderAt(await makeScratchDirectory())
  const backup = await makeBackup(folder.path, '20261122T000509Z')
  await writeFile(join(backup, 'pg_tblspc', '16384'), '')
  const order = { backup, folder, dataDirectory: join(folder.path, 'restored'), sizeSetting: '--into' }
  await expect(layOutBackup(order)).rejects.toThrow('1 tablespaces outside of its folder')
})

const older = { relation: 'older', finding: 'the database ends at event 5', missingEvents: 7 } as const
const other = { relation: 'other', finding: 'their root is X and not Y', missingEvents: 0 } as const
const continues = { relation: 'continues', finding: 'it continues', missingEvents: 0 } as const
const clean = { failedChecks: [], auditExitCode: 0, comparisons: [continues], replaysWal: false }

test('a drill is sound only if checks, audit and every checkpoint agree', () => {
  expect(judgeDrill(clean)).toBe('sound')
  expect(judgeDrill({ ...clean, auditExitCode: 7 })).toBe('broken')
  expect(judgeDrill({ ...clean, failedChecks: ['grants'] })).toBe('broken')
  expect(judgeDrill({ ...clean, comparisons: [older, other] })).toBe('broken')
  expect(judgeDrill({ ...clean, comparisons: [continues, older] })).toBe('older')
})

test.each([
  [0, 'sound'],
  [1, 'broken'],
  [2, 'broken'],
  [3, 'sound'],
  [4, 'broken'],
])('with exit code %i of the audit a drill is %s', (auditExitCode, verdict) => {
  expect(judgeDrill({ ...clean, auditExitCode })).toBe(verdict)
  expect(describeVerdict({ ...clean, auditExitCode })).toContain(`VERDICT: ${verdict}`)
})

test('each verdict of a drill says what it means and what to do', () => {
  expect(describeVerdict({ ...clean, comparisons: [] })).toContain('without a checkpoint')
  expect(describeVerdict({ ...clean, comparisons: [older] })).toMatch(/lacks 7 events[\s\S]*`tollbook backup wal`/)
  expect(describeVerdict({ ...clean, comparisons: [older], replaysWal: true })).toContain('ends too early')
  const broken = describeVerdict({ ...clean, auditExitCode: 6, failedChecks: ['grants: x'], comparisons: [other] })
  for (const text of ['Do not rely', 'grants: x', 'ended with 6', other.finding]) expect(broken).toContain(text)
})
