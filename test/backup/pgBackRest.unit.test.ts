import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { restoreBackup, verifyRepository } from '../../src/backup/pgBackRest.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const scratch = await makeScratchDirectory()
const repository = { stanza: 'store', interrupted: new AbortController().signal }

/** A program in place of pgBackRest, which stores its arguments in the file `called`. */
async function install(script: string): Promise<void> {
  const folder = `${scratch}/bin`
  await mkdir(folder, { recursive: true })
  await writeFile(`${folder}/pgbackrest`, `#!/bin/sh\nprintf '%s\\n' "$@" >'${scratch}/called'\n${script}\n`)
  await chmod(`${folder}/pgbackrest`, 0o755)
  vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`)
  onTestFinished(() => void vi.unstubAllEnvs())
}

test('a repository that differs from its checksums is damaged, although pgBackRest 2.45 ends with 0', async () => {
  await install("echo 'stanza: store'; echo '    status: error'; echo '      checksum invalid: 1'")
  await expect(verifyRepository(repository)).rejects.toThrow(/is damaged[^]*checksum invalid: 1/)
  await install("echo 'stanza: store'; echo '    status: ok'")
  await verifyRepository(repository)
})

test('a failure has the words of pgBackRest, and a missing program its package', async () => {
  await install('echo "ERROR: [055]: unable to load info file" >&2; exit 55')
  await expect(verifyRepository(repository)).rejects.toThrow(/pgbackrest verify failed:[^]*unable to load info file/)
  vi.stubEnv('PATH', scratch)
  await expect(verifyRepository(repository)).rejects.toThrow('Debian: pgbackrest')
})

test('a restore leaves the original directory, its tablespaces and the archive alone, and ends at the target time', async () => {
  await install('')
  const order = { dataDirectory: '/scratch/data', tablespaces: '/scratch/tablespaces' }
  await restoreBackup(repository, { ...order, targetMs: Date.UTC(2026, 10, 26, 14) })
  expect((await readFile(`${scratch}/called`, 'utf8')).trim().split('\n')).toEqual([
    'restore',
    '--pg1-path=/scratch/data',
    '--tablespace-map-all=/scratch/tablespaces',
    '--archive-mode=off',
    '--type=time',
    '--target=2026-11-26 14:00:00.000+00',
    '--target-action=promote',
    '--log-level-file=off',
    '--stanza=store',
  ])
  await restoreBackup(repository, { ...order, targetMs: undefined })
  expect(await readFile(`${scratch}/called`, 'utf8')).not.toContain('--type')
})
