import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import { openHome } from '../../../src/cli/local/home.ts'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'

test('a home that cannot be created is refused with its path, the reason and the setting', async () => {
  const file = join(await makeScratchDirectory(), 'file')
  await writeFile(file, '')
  const error: unknown = await openHome(join(file, 'home')).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(Fault)
  expect(String(error)).toContain(`${join(file, 'home')} cannot be created (ENOTDIR): set TOLLBOOK_HOME`)
})

// Node's own recursive mkdir retries without limit there.
test.runIf(process.platform === 'linux')('a home in a file system that makes no folders is refused, too', async () => {
  const error: unknown = await openHome('/proc/tollbook/home').catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(Fault)
  expect(String(error)).toContain('/proc/tollbook/home cannot be created (ENOENT): set TOLLBOOK_HOME')
})

test('a home below folders that are missing is created with them', async () => {
  const path = join(await makeScratchDirectory(), 'a', 'b', 'home')
  expect((await openHome(path)).path).toBe(path)
  expect((await openHome(path)).path).toBe(path)
})
