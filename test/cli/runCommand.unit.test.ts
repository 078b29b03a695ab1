import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { Fault } from '@tollbook/core/fault'
import { readDuration } from '../../src/cli/duration.ts'
import { findLedger } from '../../src/cli/installation.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { exitCodeOf, printResult, runWith } from '../../src/cli/runCommand.ts'
import { receiptKeyBytes } from '../../src/settings/receiptKeys.ts'
import { openTerminal } from './support/terminal.ts'

const interrupted = new AbortController().signal
const failing = (reason: Error) => () => Promise.reject<number>(reason)

test.each([
  [2, new UsageProblem('--every', 'is missing')],
  [4, new Fault('refused', { retryable: false })],
  [7, new Fault('silent', { retryable: true })],
  [4, new Fault('denied', { cause: Object.assign(new Error('denied'), { code: '42501' }), retryable: true })],
])('a command ends with %i after %s, which is printed', async (code, error) => {
  let said = ''
  const deps = { stderr: { write: (text: string) => void (said += text) }, interrupted }
  expect(await exitCodeOf(deps, failing(error))).toBe(code)
  expect(said).toBe(`${error.message}\n`)
})

test('a bug is thrown, and a command may have its own codes', async () => {
  const deps = { stderr: { write: () => undefined }, interrupted }
  await expect(exitCodeOf(deps, failing(new TypeError('x is undefined')))).rejects.toThrow('x is undefined')
  const codes = { refused: 11, unavailable: 12 }
  expect(await exitCodeOf(deps, failing(new Fault('no', { retryable: false })), codes)).toBe(11)
  expect(await exitCodeOf(deps, failing(new Fault('no', { retryable: true })), codes)).toBe(12)
  expect(await exitCodeOf(deps, failing(new UsageProblem('x', 'no')), codes)).toBe(2)
})

test('work that Ctrl-C ends has its own exit code and no stack, and keeps the message of a fault', async () => {
  let said = ''
  const deps = { stderr: { write: (text: string) => void (said += text) }, interrupted: AbortSignal.abort() }
  const ended = () => exitCodeOf(deps, () => Promise.resolve().then(() => deps.interrupted.throwIfAborted() ?? 0))
  expect([await ended(), said]).toEqual([130, ''])
  expect([await exitCodeOf(deps, failing(new Fault('sent', { retryable: false }))), said]).toEqual([4, 'sent\n'])
})

test('a part is closed before the command ends, also if the work fails', async () => {
  const steps: string[] = []
  const deps = {
    stdout: { write: () => undefined },
    stderr: { write: () => undefined },
    home: () => '',
    setExitCode: (code: number) => void steps.push(`ends with ${code}`),
    interrupted,
    clock: { nowMs: () => 0, monotonicMs: () => 0, sleep: () => Promise.resolve() },
  }
  const open = () => Promise.resolve({ close: () => Promise.resolve(void steps.push('closed')) })
  await runWith(deps, open, () => Promise.resolve(0))
  await runWith(deps, open, failing(new Fault('silent', { retryable: true })))
  expect(steps).toEqual(['closed', 'ends with 0', 'closed', 'ends with 7'])
})

test('a terminal gets words, and a program gets one line of JSON', () => {
  const said: string[] = []
  const write = (text: string) => said.push(text)
  printResult({ stdout: { write, isTTY: true } }, { a: 1 }, 'words')
  printResult({ stdout: { write } }, { a: 1 }, 'words')
  expect(said).toEqual(['words\n', '{"a":1}\n'])
})

test('a duration has a number and a unit, and stays within its bounds', () => {
  expect(['90s', '10m', '24h', '7d'].map((text) => readDuration('--every', text))).toEqual([
    90_000, 600_000, 86_400_000, 604_800_000,
  ])
  for (const text of ['', '10', 's', '1.5h', '-1s', '1w', '12345678s', '1h '])
    expect(() => readDuration('--every', text), text).toThrow(
      `--every: must be a duration such as 90s, 10m, 24h or 7d (got ${text})`,
    )
  const bounds = { minMs: 10_000, maxMs: 86_400_000 }
  expect(['10s', '1d'].map((text) => readDuration('--every', text, bounds))).toEqual([10_000, 86_400_000])
  expect(() => readDuration('--every', '9s', bounds)).toThrow('--every: must be at least 10s (got 9s)')
  expect(() => readDuration('--every', '25h', bounds)).toThrow('--every: must be at most 1d (got 25h)')
})

test('a command reads the ledger of its option, of the reports, of the service or of local mode, in this order', async () => {
  const terminal = await openTerminal()
  const { d: _private, ...receiptKey } = makeReceiptKey()
  const local = { baseUrl: 'http://127.0.0.1:1', rpcUrl: 'http://127.0.0.1:2', databaseUrl: 'postgres://local' }
  const deps = { home: () => terminal.home }
  await expect(findLedger(deps)).rejects.toThrow('--database: is missing')
  await terminal.writeFile('local.json', { ...local, tokenMint: 'mint', paymentWallet: 'wallet', receiptKey })
  const own = {
    rpcUrl: local.rpcUrl,
    paymentWallet: 'wallet',
    origin: 'tollbook/wallet',
    publicKey: receiptKeyBytes(receiptKey),
    checkpointFile: join(terminal.home, 'checkpoint'),
  }
  expect(await findLedger(deps)).toEqual({ databaseUrl: local.databaseUrl, ...own })
  expect(await findLedger(deps, local.databaseUrl)).toEqual({ databaseUrl: local.databaseUrl, ...own })
  // The facts of this machine are wrong for the ledger of another one.
  expect(await findLedger(deps, 'postgres://other/db')).toEqual({ databaseUrl: 'postgres://other/db' })
  vi.stubEnv('DATABASE_URL', 'postgres://service/db')
  expect(await findLedger(deps)).toEqual({ databaseUrl: 'postgres://service/db' })
  vi.stubEnv('REPORTS_DATABASE_URL', 'postgres://standby/db')
  vi.stubEnv('LEDGER_ORIGIN', 'till.example')
  expect(await findLedger(deps)).toMatchObject({ databaseUrl: 'postgres://standby/db', origin: 'till.example' })
  vi.unstubAllEnvs()
  for (const url of ['mysql://db', 'postgres://db:99999/x'])
    await expect(findLedger(deps, url)).rejects.toThrow('--database: must be a postgres:// URL')
})
