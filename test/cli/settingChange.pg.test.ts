import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import type { Command } from 'commander'
import type { CommandDeps } from '../../src/cli/commandDeps.ts'
import { keyCommand } from '../../src/cli/key.ts'
import { splitCommand } from '../../src/cli/split.ts'
import { walletCommand } from '../../src/cli/wallet.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { openInstance, openSessions } from '../store/instance.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import type { TestDatabase } from '../support/testDatabase.ts'

let database: TestDatabase
let service: Ledger
let folder: string
const firstKey = makeReceiptKey()
const firstWallet = newWallet()
const usdcOfDevnet = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'

function newWallet(): string {
  return Keypair.generate().publicKey.toBase58()
}

beforeAll(async () => {
  database = await createTestDatabase()
  service = await openInstance(database.serviceUrl)
  folder = await makeScratchDirectory()
  const { kty, crv, x } = firstKey
  const split = defaultSplit.map(({ account, perMille }) => ({ account, perMille }))
  await service.settings.record([
    { name: 'receipt-key', value: { kty, crv, x } },
    { name: 'payment-wallet', value: firstWallet },
    { name: 'split', value: split },
  ])
  vi.stubEnv('OPERATOR_DATABASE_URL', await makeMemberLogin(database.adminUrl, 'tollbook_operator'))
})
afterAll(() => vi.unstubAllEnvs())

const run = (commandOf: (deps: CommandDeps) => Command, ...words: readonly string[]) => runIn(false, commandOf, words)

async function runIn(isTTY: boolean, commandOf: (deps: CommandDeps) => Command, words: readonly string[]) {
  const [said, complained]: [string[], string[]] = [[], []]
  let code = 0
  const command = commandOf({
    stdout: { write: (text) => said.push(text), isTTY },
    stderr: { write: (text) => complained.push(text) },
    home: () => folder,
    setExitCode: (exitCode) => void (code = exitCode),
    interrupted: new AbortController().signal,
    clock: systemClock,
  })
  await command.parseAsync([...words], { from: 'user' })
  const lines = said.join('').trim().split('\n')
  return { code, lines, complaint: complained.join('') }
}

async function numberOf(name: string): Promise<number> {
  return ((await service.settings.versions([name])).get(name) ?? []).length
}

test('a key is made, rotated to by its file, listed with the periods, and recorded once', async () => {
  const file = join(folder, 'next.json')
  const created = await run(keyCommand, 'new', '--output', file)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(created.complaint).toMatch(/npx tollbook key rotate [\w-]{43}\n/)
  expect(JSON.stringify(created), 'the private key is in the file alone').not.toContain('"d"')

  const whole = await readFile(file, 'utf8')
  await expect(run(keyCommand, 'new', '--output', file)).rejects.toThrow(`--output: ${file} cannot be written`)
  expect(await readFile(file, 'utf8'), 'a key is never written over').toBe(whole)

  const preview = await run(keyCommand, 'rotate', file)
  expect(preview).toMatchObject({ code: 4, complaint: expect.stringContaining('--yes') })
  expect(await run(keyCommand, 'rotate', file, '--dry-run')).toMatchObject({ code: 0, lines: [expect.any(String)] })
  const both = await run(keyCommand, 'rotate', file, '--dry-run', '--yes')
  expect(both, '--dry-run wins over --yes').toMatchObject({ code: 0, lines: [expect.stringContaining('false')] })
  expect(await numberOf('receipt-key')).toBe(1)

  const before = systemClock.nowMs()
  const rotated = await run(keyCommand, 'rotate', file, '--valid-from', '10m', '--overlap', '2h', '--yes')
  expect(rotated).toMatchObject({ code: 0, complaint: '' })
  const { validFrom, previousUntil, position } = JSON.parse(rotated.lines[0] ?? '')
  expect(Date.parse(validFrom)).toBeGreaterThanOrEqual(before + 600_000)
  expect(Date.parse(previousUntil) - Date.parse(validFrom)).toBe(7_200_000)
  expect(position).toBe(4)

  expect(await run(keyCommand, 'rotate', file, '--yes'), 'again').toMatchObject({ code: 0 })
  expect(await numberOf('receipt-key')).toBe(2)
  const listed = await run(keyCommand, 'list')
  expect(listed.lines.map((line) => JSON.parse(line))).toMatchObject([
    { number: 1, value: { x: firstKey.x }, until: previousUntil, accepted: true },
    { number: 2, validFrom, until: null, accepted: false },
  ])
  expect(JSON.stringify(listed)).not.toContain('"d"')
})

test('a new key never looks like an option, and another that does is given after --', async () => {
  // One Ed25519 key of 64 starts with a hyphen.
  const created = Array.from({ length: 1_000 }, () => makeReceiptKey().x)
  expect(created.filter((x) => x.startsWith('-'))).toEqual([])
  const hyphened = `-${firstKey.x.slice(1)}`
  const words = ['rotate', '--dry-run', '--valid-from', '20m', '--', hyphened]
  expect(await run(keyCommand, ...words)).toMatchObject({ code: 0, complaint: '' })
})

test('a key of the past is not used again, and a change needs its lead', async () => {
  expect(await run(keyCommand, 'rotate', firstKey.x, '--yes')).toMatchObject({
    code: 4,
    complaint: expect.stringContaining('receipt-key#1'),
  })
  expect(await run(walletCommand, 'change', newWallet(), '--valid-from', '5s', '--yes')).toMatchObject({
    code: 4,
    complaint: expect.stringContaining('less than 60 s'),
  })
  const noDay = run(walletCommand, 'change', newWallet(), '--valid-from', '2100-02-29T10:00Z', '--dry-run')
  await expect(noDay).resolves.toMatchObject({ code: 2, complaint: expect.stringContaining('--valid-from') })
})

test('of two operators who change a wallet at once, both are recorded, one after the other', async () => {
  const wallets = [newWallet(), newWallet()]
  const runs = await Promise.all(
    wallets.map((wallet) => run(walletCommand, 'change', wallet, '--valid-from', '10m', '--yes')),
  )
  const codes = runs.map(({ code }) => code)
  const versions = (await service.settings.versions(['payment-wallet'])).get('payment-wallet') ?? []
  expect(versions.map(({ event }) => event.number)).toEqual([1, 2, 3].slice(0, versions.length))
  // The later of them may take effect in an earlier second, and is refused then.
  expect(codes.filter((code) => code === 0)).toHaveLength(versions.length - 1)
  expect(versions.length).toBeGreaterThan(1)
})

test('of several operators who make the same change at once, one records it, and the others read that it is on record', async () => {
  const before = await numberOf('payment-wallet')
  const words = ['change', newWallet(), '--valid-from', '20m', '--yes']
  const runs = await Promise.all(Array.from({ length: 6 }, () => run(walletCommand, ...words)))
  expect(await numberOf('payment-wallet')).toBe(before + 1)
  expect(runs.map(({ code, complaint }) => `${code} ${complaint}`)).toEqual(Array(6).fill('0 '))
})

test('a person is shown the newest value, which a change would replace', async () => {
  const { lines } = await runIn(true, walletCommand, ['change', newWallet(), '--valid-from', '30m', '--dry-run'])
  const [, before = ''] = /before: (\w+),/.exec(lines.join('\n')) ?? []
  const versions = (await service.settings.versions(['payment-wallet'])).get('payment-wallet') ?? []
  expect(versions.length).toBeGreaterThan(1)
  expect(versions.findLast(({ event }) => JSON.stringify(event.value).includes(before))).toBe(versions.at(-1))
})

test('the wallet of a dollar is changed and listed by its name or mint, and that of the token stays', async () => {
  const tokenVersions = await numberOf('payment-wallet')
  const [setting, next] = [`payment-wallet/${usdcOfDevnet}`, newWallet()]
  const words = ['change', next, '--valid-from', '10m', '--yes']
  const early = await run(walletCommand, ...words, '--mint', usdcOfDevnet)
  expect(early).toMatchObject({ code: 4, complaint: expect.stringContaining(`the ledger has no ${setting} yet`) })
  await service.settings.record([{ name: setting, value: firstWallet }])
  expect(await run(walletCommand, ...words, '--mint', 'usdc')).toMatchObject({ code: 0, complaint: '' })
  expect(await run(walletCommand, ...words, '--mint', usdcOfDevnet), 'again').toMatchObject({ code: 0 })
  const listed = await run(walletCommand, 'list', '--mint', 'USDC')
  expect(listed.lines.map((line) => JSON.parse(line))).toMatchObject([
    { setting, number: 1, value: firstWallet, accepted: true },
    { setting, number: 2, value: next, accepted: false },
  ])
  expect(await numberOf('payment-wallet')).toBe(tokenVersions)
  expect(await run(walletCommand, 'list', '--mint', 'EURC')).toMatchObject({
    code: 2,
    complaint: expect.stringContaining('--mint: must be the mint of a dollar, or the name of one on record'),
  })
})

test('a split is changed at once, in the form of SPLIT', async () => {
  const changed = await run(splitCommand, 'change', 'burn:30,provider:60,holders:10', '--overlap', '1h', '--yes')
  expect(changed.code).toBe(0)
  const found = await service.settings.find('split', systemClock.nowMs() + 1)
  expect(found).toMatchObject({ number: 2, value: { shares: [{ account: 'burn', perMille: 300 }, {}, {}] } })
})

test.each([
  [walletCommand, ['change', 'nonsense'], /ADDRESS: must be a Solana address/],
  [walletCommand, ['change', newWallet(), '--overlap', 'soon'], /--overlap: must be a duration/],
  [walletCommand, ['change', newWallet(), '--overlap', '91d'], /--overlap: must be at most 90d/],
  [walletCommand, ['change', newWallet(), '--valid-from', '2026-11-22'], /--valid-from: must be an ISO 8601 time/],
  [keyCommand, ['rotate', '/nowhere/key.json'], /PUBLIC-KEY: is neither/],
  [splitCommand, ['change', 'burn:30,provider:60'], /adds up to 90%/],
] as const)('a command that is not called right names what is wrong (%#)', async (command, words, says) => {
  const outcome = await run(command, ...words)
  expect(outcome).toMatchObject({ code: 2, complaint: expect.stringMatching(says) })
})

test('neither the service nor a payer of payouts changes a setting', async () => {
  const paymaster = await makeMemberLogin(database.adminUrl, 'tollbook_payout')
  for (const login of [database.serviceUrl, paymaster]) {
    await expect(openSessions(login).query(`select * from ledger.change_setting('{}')`)).rejects.toMatchObject({
      code: '42501',
    })
    vi.stubEnv('OPERATOR_DATABASE_URL', login)
    expect(await run(splitCommand, 'change', 'burn:30,provider:70', '--yes')).toMatchObject({
      code: 4,
      complaint: expect.stringContaining('not a member of tollbook_operator'),
    })
  }
})
