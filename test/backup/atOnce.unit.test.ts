import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backupFolderAt } from '../../src/backup/backupFolder.ts'
import { takeBackup } from '../../src/backup/takeBackup.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

/** Like the real program, it refuses a folder that is not empty. It then waits for the file `gate`. */
const program = (gate: string) => `#!/bin/sh
case "$*" in *--version*) echo 'pg_basebackup (PostgreSQL) 17.4'; exit 0 ;; esac
for word in "$@"; do case "$word" in --pgdata=*) folder="\${word#--pgdata=}" ;; esac; done
mkdir -p "$folder"
if [ -n "$(ls "$folder")" ]; then echo 'error: directory exists but is not empty' >&2; exit 1; fi
echo 17 > "$folder/PG_VERSION"
until [ -e '${gate}' ]; do sleep 0.1; done
cp '${gate}' "$folder/backup_label"
`
const succeeding = `#!/bin/sh
echo 'pg_verifybackup (PostgreSQL) 17.4'
`

async function openTools() {
  const scratch = await makeScratchDirectory()
  const [toolsFolder, gate] = [join(scratch, 'tools'), join(scratch, 'gate')]
  await mkdir(toolsFolder)
  const programs = { pg_basebackup: program(gate), pg_verifybackup: succeeding, pg_waldump: succeeding }
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(toolsFolder, name), text)
    await chmod(join(toolsFolder, name), 0o755)
  }
  const folder = backupFolderAt(join(scratch, 'backups'))
  const backup = () =>
    takeBackup({
      databaseUrl: 'postgres://backup@127.0.0.1:1/postgres',
      folder,
      toolsFolder,
      count: 7,
      nowMs: Date.UTC(2026, 10, 22, 2),
      interrupted: new AbortController().signal,
      onMessage: () => undefined,
    })
  return { folder, backup, letThrough: () => writeFile(gate, 'START WAL LOCATION: 0/3000028') }
}

test('of two backups that begin in the same second one is made, and the other says why it is not', async () => {
  const { folder, backup, letThrough } = await openTools()
  const name = '20261122T020000Z'
  const unfinished = join(folder.path, `.${name}`)
  const first = backup()
  await awaitThat('the first one writes', async () => (await readdir(unfinished).catch(() => [])).length === 1)
  await expect(backup()).rejects.toThrow(`another backup is being written to ${unfinished}`)
  await letThrough()
  expect(await first).toMatchObject({ path: join(folder.path, name) })
  expect((await readdir(join(folder.path, name))).toSorted()).toEqual(['PG_VERSION', 'backup_label'])

  await expect(backup(), 'one that begins after it, in the same second').rejects.toThrow(`${name} exists already`)
  expect(await readdir(folder.path)).toEqual([name])
})
