import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFolder } from '../../src/machine/createFolder.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

test('a folder is created for its user alone, and one that exists is taken', async () => {
  const folder = join(await makeScratchDirectory(), 'new')
  await createFolder(folder, 'ARTIFACT_DIR')
  await createFolder(folder, 'ARTIFACT_DIR')
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
})

test('a path whose parent is missing is refused and not created, because it is mistyped or its disk is not mounted', async () => {
  const parent = join(await makeScratchDirectory(), 'mnt')
  const message = `ARTIFACT_DIR: ${parent} does not exist; create it, mount it or correct the path (got ${parent}/backups)`
  await expect(createFolder(`${parent}/backups`, 'ARTIFACT_DIR')).rejects.toThrow(message)
  await expect(stat(parent)).rejects.toThrow('ENOENT')
})

// Node's recursive mkdir never ends for a path below /proc.
test.runIf(process.platform === 'linux')('a folder that the system cannot create is refused at once', async () => {
  await expect(createFolder('/proc/backups', 'ARTIFACT_DIR')).rejects.toThrow(
    'ARTIFACT_DIR: /proc/backups cannot be created',
  )
})

test('a file is refused as the folder', async () => {
  const file = join(await makeScratchDirectory(), 'file')
  await writeFile(file, '')
  await expect(createFolder(file, 'ARTIFACT_DIR')).rejects.toThrow(`ARTIFACT_DIR: ${file} cannot be created`)
})
