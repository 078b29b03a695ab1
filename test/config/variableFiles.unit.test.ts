import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { mistypedVariables, readConfig } from '../../src/config.ts'

const directory = mkdtempSync(join(tmpdir(), 'tollbook-variables-'))
afterAll(() => rmSync(directory, { recursive: true }))

function fileOf(name: string, contents: string): string {
  const file = join(directory, name)
  writeFileSync(file, contents)
  return file
}

const mint = 'A49WZKxeih54nXzPtAez9tQmdAveq7jtxk1EtcW85seq'
const databaseUrl = 'postgres://api:secret@db:5432/tollbook'

test.each(['', '\n', '\r\n'])('a variable is read from its file, without a last line break (%j)', (end) => {
  const config = readConfig({ DATABASE_URL_FILE: fileOf('url', databaseUrl + end) })
  expect(config.ledger?.databaseUrl).toBe(databaseUrl)
})

test('only one line break is removed, so the mistake is reported', () => {
  expect(() => readConfig({ LOG_LEVEL_FILE: fileOf('level', 'debug\n\n') })).toThrow('LOG_LEVEL must be one of')
})

test('a variable and its file together are refused', () => {
  const env = { DATABASE_URL: databaseUrl, DATABASE_URL_FILE: fileOf('both', databaseUrl) }
  expect(() => readConfig(env)).toThrow('DATABASE_URL and DATABASE_URL_FILE are both set: remove one of them')
})

test('a variable that already ends in _FILE keeps its meaning', () => {
  expect(readConfig({ CHECKPOINT_FILE: '/var/newest' }).seal.checkpointFile).toBe('/var/newest')
})

test.each([
  ['a missing file', () => join(directory, 'none'), /must name a file that can be read: .*ENOENT/],
  ['a folder', () => directory, /must name a file and no folder or device \(got/],
  ['an empty file', () => fileOf('empty', '\n'), /must name a file that is not empty/],
  ['a large file', () => fileOf('large', 'x'.repeat(64 * 1024 + 1)), /must name a file of 65536 bytes at most/],
  ['a device', () => '/dev/zero', /must name a file and no folder or device \(got "\/dev\/zero"\)/],
])('%s is reported with its path', (_, file, problem) => {
  expect(() => readConfig({ RECEIPT_SIGNING_KEY_FILE: file() })).toThrow(problem)
  expect(() => readConfig({ RECEIPT_SIGNING_KEY_FILE: file() })).toThrow('RECEIPT_SIGNING_KEY_FILE')
})

test('a wrong value from a file is not shown when it is a secret', () => {
  const read = () => readConfig({ RECEIPT_SIGNING_KEY_FILE: fileOf('key', 'top-secret') })
  expect(read).toThrow('RECEIPT_SIGNING_KEY must be a private Ed25519 key')
  expect(read).not.toThrow('top-secret')
})

test.each(['postgres://api:top-secret@db/tollbook', '{"d":"top-secret"}', 'top-secret'])(
  'a secret in place of its path is not shown (%s)',
  (secret) => {
    const read = () => readConfig({ RECEIPT_SIGNING_KEY_FILE: secret })
    expect(read).toThrow('that can be read: ENOENT (got a text that does not begin with / or ./)')
    expect(read).not.toThrow('top-secret')
  },
)

test('a variable whose file cannot be read is not reported as missing too', () => {
  const env = { DATABASE_URL: databaseUrl, SOLANA_RPC_URLS: 'http://node', TOKEN_MINT: mint, PAYMENT_WALLET: mint }
  const start = 'operated'
  const read = () => readConfig({ ...env, RECEIPT_SIGNING_KEY_FILE: join(directory, 'none') }, { start })
  expect(read).toThrow(/has 1 mistake:\n {2}RECEIPT_SIGNING_KEY_FILE must name a file that can be read/)
  expect(() => readConfig(env, { start })).toThrow('RECEIPT_SIGNING_KEY is missing')
})

test('a mistyped name of a file is noticed', () => {
  expect(mistypedVariables({ DATABASE_ULR_FILE: 'x' })).toEqual([
    { name: 'DATABASE_ULR_FILE', meant: 'DATABASE_URL_FILE' },
  ])
})
