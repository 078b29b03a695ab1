import { signCheckpoint } from '@tollbook/core/checkpoint'
import { nextMonth, type SignedClosing } from '@tollbook/core/closingStatement'
import { jwsSigner } from '@tollbook/core/compactJws'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { verifyClosing } from '@tollbook/client/verifyClosing'
import { expect, test } from 'vitest'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { reportCommand } from '../../src/cli/report.ts'
import { verifyCommand } from '../../src/cli/verify.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { receiptKeyId } from '../../src/settings/receiptKeys.ts'
import { signClosing } from '../../src/reports/closing/signClosing.ts'
import { readQuestion, type ReportName } from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import { createReports } from '../../src/reports/reports.ts'
import { trialBalance } from '../../src/reports/trialBalance.ts'
import { sealNext } from '../../src/store/sealer.ts'
import { openTerminal } from '../cli/support/terminal.ts'
import { createTestDatabase } from '../support/database.ts'
import { shiftedClock } from '../support/shiftedClock.ts'
import { openInstance, openSessions } from '../store/instance.ts'
import { sampleAddress, sampleMint, samplePrice } from '../store/samplePayment.ts'
import { recordBurn } from './recordBurn.ts'
import { seedPayment } from './seedPayment.ts'

/*
 * Everything is recorded now. A day ago is in a month that is open, whatever the day of the test is; sixty days ago is
 * in one that is closed.
 */

const dayMs = 86_400_000
const startMs = systemClock.nowMs()
const month = isoTime(startMs - dayMs).slice(0, 7)
const closedMonth = isoTime(startMs - 60 * dayMs).slice(0, 7)
const afterCloseMs = Date.parse(`${nextMonth(month)}-03T00:00:00.000Z`)

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const key = makeReceiptKey()
const signer = ed25519Signer(key)
const signJws = jwsSigner(signer, receiptKeyId(key))
const sign = (tree: { size: number; root: Uint8Array }) =>
  signCheckpoint({ origin: 'tollbook/closing', ...tree }, signer)
const reports = createReports(ledger.database, { mint: sampleMint, decimals: 6 })
const keys = { kty: key.kty, crv: key.crv, x: key.x }

const price = 3_000_000n
const seed = (
  ageDays: number,
  end: 'finalized' | 'unmatched',
  { isPaidWhole = false, requiredBaseUnits = price } = {},
) =>
  seedPayment(ledger, {
    wallet: sampleAddress(),
    endpoint: '/api/data/weather',
    requiredBaseUnits,
    overpaidBaseUnits: 7n,
    blockTimeMs: startMs - ageDays * dayMs,
    end,
    isPaidWhole,
  })

await ledger.priceLists.publish({
  kind: 'PriceListPublished',
  source: 'fixed',
  split: defaultSplit,
  prices: [samplePrice('/api/data/weather', price)],
})
await seed(1, 'finalized')
await seed(1, 'finalized', { isPaidWhole: true })
// Half the price of the token.
await seed(1, 'finalized', { requiredBaseUnits: 2n * price })
await seed(60, 'finalized')
await seed(60, 'unmatched')
await recordBurn(openSessions(adminUrl), {
  mint: sampleMint,
  parts: [{ endpoint: '/api/data/weather', baseUnits: 1_000n }],
  effectiveAtMs: startMs - dayMs,
})
while ((await sealNext({ ...ledger, sign })).sealedEvents > 0);

const receivedBaseUnits = 4n * price + 21n - (price * 9n) / 10n

const closing = async (ofMonth: string, nowMs = afterCloseMs) =>
  signClosing(signJws, await reports.closing({ month: ofMonth, nowMs }))
const valid = (signed: unknown, previous?: unknown) =>
  verifyClosing({ closing: signed, keys, ...(previous === undefined ? {} : { previous }) })
const balancesOf = ({ statement }: SignedClosing) =>
  Object.fromEntries(statement.accounts.map(({ account, closingBaseUnits }) => [account, BigInt(closingBaseUnits)]))

test('an open month has a preliminary statement, and a closed one a final statement with the same figures at any later time', async () => {
  const open = await closing(month, startMs)
  expect(open.statement.status).toBe('preliminary')
  const [one, other] = [await closing(month), await closing(month, afterCloseMs + 90 * dayMs)]
  expect(one.statement.status).toBe('final')
  expect({ ...other.statement, issuedAt: '' }).toEqual({ ...one.statement, issuedAt: '' })
})

test('a statement closes on the balances of the ledger, with entries of closed months as restated', async () => {
  const signed = await closing(month)
  const balances: Record<string, bigint> = {}
  for (const { account, baseUnits } of await trialBalance(ledger.database)) {
    const line = account.startsWith('Liabilities:Share:') ? account : account.split(':').slice(0, 2).join(':')
    balances[line] = (balances[line] ?? 0n) + baseUnits
  }
  const moved = Object.fromEntries(Object.entries(balances).filter(([, baseUnits]) => baseUnits !== 0n))
  const closed = Object.fromEntries(Object.entries(balancesOf(signed)).filter(([, baseUnits]) => baseUnits !== 0n))
  expect(closed).toEqual(moved)
  const { statement } = signed
  expect(statement.restatedCount).toBeGreaterThan(5)
  expect(new Set(statement.restated.map(({ day }) => day.slice(0, 7)))).toContain(closedMonth)
  expect(statement.totals).toMatchObject({
    // Two payments burned their shares, one sent the whole price; each sent 7 base units too much.
    received: { baseUnits: String(receivedBaseUnits) },
    burned: { baseUnits: String((price * 9n) / 10n) },
    burnOwed: { baseUnits: String((price * 3n) / 10n) },
    burnConfirmed: { baseUnits: '1000', atQuotedPriceMicroUsd: null },
    refundsArisen: { baseUnits: '21' },
  })
})

test('reports show dollars at the quoted price and at the mean price of the day', async () => {
  const day = isoTime(startMs - dayMs).slice(0, 10)
  const read = async (report: ReportName, given: Record<string, string>) => {
    const question = readQuestion(report, given)
    if (isProblems(question)) throw new Error(JSON.stringify(question))
    return (await reports.table(report, question)).read
  }
  // Three payments of 10,000 millionths of a dollar each paid for four prices in tokens.
  const atDayPrice = Number((receivedBaseUnits * 3n * 10_000n) / (4n * price))
  const expected = { receivedBaseUnits, receivedAtDayPriceMicroUsd: atDayPrice }
  const { rows, totals } = await read('distributions', { from: day, to: day })
  expect([...rows, totals]).toMatchObject([expected, expected])
  expect(totals?.['receivedMicroUsd']).not.toBe(atDayPrice)
  const payments = await read('payments', { from: day, to: day, state: 'fulfilled' })
  const values = payments.rows.map((row) => Number(row['receivedAtDayPriceMicroUsd']))
  expect(values).toHaveLength(3)
  expect(Math.abs(values.reduce((sum, value) => sum + value, 0) - atDayPrice)).toBeLessThan(values.length)
  const { rows: owed } = await read('liabilities', {})
  expect(owed.every((row) => Number(row['owedAtDayPriceMicroUsd']) >= 0)).toBe(true)
  expect(owed.some((row) => Number(row['owedAtDayPriceMicroUsd']) > 0)).toBe(true)
  const { rows: lines } = await read('trial-balance', { to: day })
  const wallet = lines.find(({ account }) => account === 'Assets:PaymentWallet')
  expect(Number(wallet?.['closingAtDayPriceMicroUsd'])).toBeGreaterThan(0)
})

test('the sums for monitoring balance, and agree with the reports', async () => {
  const { accounts, endpoints, lateEntries } = await reports.money()
  expect(accounts.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)).toBe(0n)
  const shares = accounts.filter(({ account }) => account.startsWith('Liabilities:Share:'))
  const earned = -shares.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  expect(endpoints).toMatchObject([{ endpoint: '/api/data/weather', allocatedBaseUnits: earned }])
  expect(lateEntries).toBeGreaterThan(0)
})

test('an event of a closed month never changes its statement: it is listed there, and restated in the month in which it came', async () => {
  const { statement } = await closing(closedMonth)
  expect(statement).toMatchObject({ status: 'final', accounts: [], position: 0, owedBaseUnits: '0' })
  expect(statement.recordedLaterCount).toBeGreaterThan(0)
  const before = await closing(month)
  await seed(60, 'unmatched')
  const unsealed = await closing(closedMonth)
  expect(unsealed.statement.recordedLaterCount, 'a statement lists what its checkpoint proves').toBe(
    statement.recordedLaterCount,
  )
  while ((await sealNext({ ...ledger, sign })).sealedEvents > 0);
  const after = await closing(closedMonth)
  expect(after.statement.accounts).toEqual(statement.accounts)
  expect(after.statement.recordedLaterCount).toBeGreaterThan(statement.recordedLaterCount)
  const restated = await closing(month)
  expect(restated.statement.restatedCount).toBeGreaterThan(before.statement.restatedCount)
  expect(restated.statement.totals).toEqual(before.statement.totals)
})

test('closing balances are the opening balances of the next month, and a verifier compares them', async () => {
  const [one, two] = [await closing(month), await closing(nextMonth(month), afterCloseMs + 60 * dayMs)]
  expect(await valid(two, one)).toMatchObject({ valid: true })
  expect(two.statement.accounts.map(({ openingBaseUnits }) => openingBaseUnits)).not.toContain('0')
  const [first, ...others] = one.statement.accounts
  const [line] = others
  if (first === undefined || line === undefined) throw new Error('the statement has lines')
  const shifted = [
    {
      ...first,
      openingBaseUnits: String(BigInt(first.openingBaseUnits) + 1n),
      closingBaseUnits: String(BigInt(first.closingBaseUnits) + 1n),
    },
    {
      ...line,
      openingBaseUnits: String(BigInt(line.openingBaseUnits) - 1n),
      closingBaseUnits: String(BigInt(line.closingBaseUnits) - 1n),
    },
    ...others.slice(1),
  ]
  // Both are liabilities or both are not, or the sum of the debts would be wrong as well.
  const forged = signClosing(signJws, {
    statement: { ...one.statement, accounts: shifted },
    checkpoint: one.checkpoint,
  })
  expect(await valid(two, forged)).toMatchObject({ valid: false })
  expect(await valid(two, await closing(month, startMs))).toMatchObject({ problem: 'not_carried_over' })
  expect(await valid(one, two)).toMatchObject({ problem: 'not_carried_over' })
})

test('what was changed, signed by another key, or tied to another checkpoint does not verify', async () => {
  const signed = await closing(month)
  expect(await valid(signed)).toMatchObject({ valid: true, checkpoint: { origin: 'tollbook/closing' } })
  const { statement, checkpoint } = signed
  const stranger = makeReceiptKey()
  const owedBaseUnits = String(BigInt(statement.owedBaseUnits) + 1n)
  const otherSize = { ...statement, treeSize: statement.treeSize - 1, position: statement.position - 1 }
  for (const [problem, given] of [
    ['signature_invalid', { ...signed, statement: { ...statement, owedBaseUnits } }],
    ['signature_invalid', { ...signed, statement: { ...statement, note: 'audited' } }],
    ['signature_invalid', signClosing(jwsSigner(ed25519Signer(stranger), receiptKeyId(stranger)), signed)],
    ['figures_wrong', signClosing(signJws, { statement: { ...statement, owedBaseUnits }, checkpoint })],
    ['figures_wrong', signClosing(signJws, { statement: { ...statement, restatedCount: 0 }, checkpoint })],
    [
      'figures_wrong',
      signClosing(signJws, { statement: { ...statement, accounts: statement.accounts.slice(1) }, checkpoint }),
    ],
    ['other_checkpoint', signClosing(signJws, { statement: otherSize, checkpoint })],
    ['checkpoint_unsigned', signClosing(signJws, { statement, checkpoint: checkpoint.replace(/\n\d+\n/, '\n1\n') })],
    ['malformed', { ...signed, statement: {} }],
    ['malformed', null],
  ] as const)
    expect(await valid(given), problem).toMatchObject({ valid: false, problem })
  expect(await verifyClosing({ closing: signed, keys, expectedOrigin: 'tollbook/other' })).toMatchObject({
    problem: 'other_log',
  })
})

test('`tollbook report closing` prints a statement that `tollbook verify` checks from files alone', async () => {
  const terminal = await openTerminal()
  const given = { databaseUrl: () => Promise.resolve(serviceUrl), receiptKey: () => Promise.resolve(key) }
  const clock = shiftedClock()
  clock.advance(afterCloseMs + 60 * dayMs - startMs)
  const report = (...words: string[]) =>
    terminal.run((deps) => reportCommand({ ...deps, ...given, clock }), 'closing', ...words)
  const [one, two] = await Promise.all(
    [month, nextMonth(month)].map(async (each) =>
      terminal.writeFile(`${each}.json`, (await report('--month', each, '--format', 'json')).stdout),
    ),
  )
  const keyFile = await terminal.writeFile('key.json', keys)
  const verified = await terminal.run(verifyCommand, two ?? '', '--previous', one ?? '', '--key', keyFile)
  expect([verified.exitCode, verified.stderr]).toEqual([0, ''])
  expect(JSON.parse(verified.stdout)).toMatchObject({ valid: true, isCarriedOver: true, closing: { status: 'final' } })
  const swapped = await terminal.run(verifyCommand, one ?? '', '--previous', two ?? '', '--key', keyFile)
  expect([swapped.exitCode, JSON.parse(swapped.stdout)]).toMatchObject([9, { problem: 'not_carried_over' }])
  const table = await report('--month', month)
  expect(table.stdout).toMatch(/^Assets:PaymentWallet +0 /m)
  expect(table.stdout).toMatch(/^received +9\.\d+ +\d/m)
  for (const words of [[], ['--month', '2026-13'], ['--month', '2999-01'], ['--month', month, '--by', 'day']])
    expect((await report(...words)).exitCode).toBe(2)
  expect((await report('--month', '1969-12')).exitCode).toBe(2)
  const stranger = { ...given, receiptKey: () => Promise.resolve(makeReceiptKey()) }
  expect(
    await terminal.run((deps) => reportCommand({ ...deps, ...stranger, clock }), 'closing', '--month', month),
  ).toMatchObject({ exitCode: 4, stdout: '', stderr: expect.stringContaining('did not sign the newest checkpoint') })
})
