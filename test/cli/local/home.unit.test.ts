import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeError, Fault } from '@tollbook/core/fault'
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

test.each([
  ['private: not JSON', 'keys/demo-wallet.json'],
  ['[1,2,3]', 'keys/demo-wallet.json'],
  [JSON.stringify(Array(64).fill(7)), 'keys/demo-wallet.json'],
  ['{"kty":"OKP","d":"private"}', 'keys/receipt-key.json'],
])('a key file with %s is damaged: its path is named, and its content is not shown', async (content, name) => {
  const path = await makeScratchDirectory()
  const home = await openHome(path)
  await writeFile(join(path, name), content)
  const error: unknown = await (name.includes('wallet') ? home.keypair('demo-wallet') : home.receiptKey()).catch(
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(Fault)
  expect(describeError(error)).toContain(`${join(path, name)} is damaged; restore it`)
  expect(describeError(error)).not.toContain('private')
})

test('a home below folders that are missing is created with them', async () => {
  const path = join(await makeScratchDirectory(), 'a', 'b', 'home')
  expect((await openHome(path)).path).toBe(path)
  expect((await openHome(path)).path).toBe(path)
})
