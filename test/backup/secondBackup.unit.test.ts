import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backupFolderAt, backupNameAt } from '../../src/backup/backupFolder.ts'
import { takeBackup } from '../../src/backup/takeBackup.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const segments = ['000000010000000000000003', '000000010000000000000007', '00000001000000000000000A']
const labelOf = (segment: string | undefined) => `START WAL LOCATION: 0/3000028 (file ${segment})\n`

/** Programs of Postgres that do what the test needs: a copy with the label, and arguments that are written down. */
async function openTools({ verifies }: { readonly verifies: boolean }) {
  const scratch = await makeScratchDirectory()
  const [toolsFolder, label, cleaned] = ['tools', 'label', 'cleaned'].map((name) => join(scratch, name))
  if (toolsFolder === undefined || label === undefined || cleaned === undefined) throw new Error('three names')
  await mkdir(toolsFolder)
  const version = (name: string) => `case "$*" in *--version*) echo '${name} (PostgreSQL) 17.4'; exit 0 ;; esac`
  const programs = {
    pg_basebackup: `for word in "$@"; do case "$word" in --pgdata=*) folder="\${word#--pgdata=}" ;; esac; done
mkdir -p "$folder"; echo 17 > "$folder/PG_VERSION"; cp '${label}' "$folder/backup_label"`,
    pg_verifybackup: `exit ${verifies ? 0 : 1}`,
    pg_waldump: '',
    pg_archivecleanup: `echo "$@" >> '${cleaned}'`,
  }
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(toolsFolder, name), `#!/bin/sh\n${version(name)}\n${text}\n`)
    await chmod(join(toolsFolder, name), 0o755)
  }
  const folder = backupFolderAt(join(scratch, 'backups'))
  await mkdir(folder.walFolder, { recursive: true })
  for (const segment of segments) await writeFile(join(folder.walFolder, segment), '')
  const earlier = async (hour: number) => {
    const path = join(folder.path, backupNameAt(Date.UTC(2026, 10, 22, hour)))
    await mkdir(path)
    await writeFile(join(path, 'backup_label'), labelOf(segments[hour]))
  }
  for (const hour of [0, 1]) await earlier(hour)
  await writeFile(label, labelOf(segments[2]))
  const backup = (count: number) =>
    takeBackup({
      databaseUrl: 'postgres://backup@127.0.0.1:1/postgres',
      folder,
      toolsFolder,
      count,
      nowMs: Date.UTC(2026, 10, 22, 2),
      interrupted: new AbortController().signal,
      onMessage: () => undefined,
    })
  return { folder, backup, cleaned: () => readFile(cleaned, 'utf8') }
}

test('of the write-ahead log, what the oldest of the remaining backups needs is left', async () => {
  const { folder, backup, cleaned } = await openTools({ verifies: true })
  expect(await backup(2)).toMatchObject({ removed: ['20261122T000000Z'] })
  expect(await cleaned()).toBe(`${folder.walFolder} ${segments[1]}\n`)
})

test('a backup that is not whole gets no name, and costs no older backup and no log', async () => {
  const { folder, backup, cleaned } = await openTools({ verifies: false })
  await expect(backup(1)).rejects.toThrow('pg_verifybackup failed')
  expect((await readdir(folder.path)).toSorted()).toEqual(['20261122T000000Z', '20261122T010000Z', 'wal'])
  await expect(cleaned()).rejects.toThrow('ENOENT')
})
