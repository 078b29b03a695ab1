import { readFile, stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { writeConfiguration } from '@tollbook/sandbox/postgres/configuration'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'

const scratch = await makeScratchDirectory()
const write = (settings: Record<string, string>): Promise<string> =>
  writeConfiguration({ dataDirectory: `${scratch}/postgres`, port: 25_432, settings })

test('a setting of the caller replaces ours, but not the port', async () => {
  const text = await readFile(await write({ fsync: 'off', port: '1' }), 'utf8')
  expect(text).toContain("fsync = 'off'\n")
  expect(text).not.toContain("fsync = 'on'")
  expect(text).toContain("port = '25432'\n")
})

test.each([{ work_mem: "1MB'\nfsync = 'off" }, { "fsync = 'off' #": '' }, { Include: '/etc/passwd' }])(
  'a setting cannot smuggle in another one: %j',
  async (settings) => {
    await expect(write(settings)).rejects.toThrow('is not a Postgres setting')
  },
)

test('quotes and backslashes of a value are escaped', async () => {
  expect(await readFile(await write({ 'a.b': String.raw`it's \n` }), 'utf8')).toContain(String.raw`a.b = 'it''s \\n'`)
})

test('the account that runs Postgres can read the configuration under the strictest umask', async () => {
  const umask = process.umask(0o777)
  const path = await write({}).finally(() => process.umask(umask))
  expect((await stat(path)).mode & 0o777).toBe(0o644)
})
