import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeFileAtomically } from '../../src/machine/writeFileAtomically.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

test('a file is replaced as a whole, and everyone may read it', async () => {
  const folder = await makeScratchDirectory()
  const file = join(folder, 'checkpoint')
  await writeFileAtomically(file, 'a long first text', 'CHECKPOINT_FILE')
  await writeFileAtomically(file, 'short', 'CHECKPOINT_FILE')
  expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual(['short', ['checkpoint']])
  expect((await stat(file)).mode & 0o444).toBe(0o444)
})

test('a file that cannot be replaced is named with its setting, and no temporary file is left', async () => {
  const folder = await makeScratchDirectory()
  const file = join(folder, 'checkpoint')
  await mkdir(file)
  await expect(writeFileAtomically(file, 'text', 'CHECKPOINT_FILE')).rejects.toThrow(
    `${file} cannot be written (CHECKPOINT_FILE)`,
  )
  expect(await readdir(folder)).toEqual(['checkpoint'])
})
