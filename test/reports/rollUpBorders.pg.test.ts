import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reportsQuery } from '@tollbook/audit/reportsQuery'
import { readRefunds } from '../../src/reports/readRefunds.ts'
import { reportPosition, rollUp } from '../../src/reports/rollUp.ts'
import { split } from '../../src/pricing/split.ts'
import { defaultSplit, type SplitShare } from '../../src/pricing/splitSetting.ts'
import { openInstance, openSessions } from '../store/instance.ts'
import { sampleAddress, samplePrice } from '../store/samplePayment.ts'
import { createTestDatabase } from '../support/database.ts'
import { ends, seedPayment } from './seedPayment.ts'

/* The tables of the reports equal those that the audit derives from the events by an independent query. */

const { serviceUrl, ownerUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const owner = openSessions(ownerUrl)
const admin = openSessions(adminUrl)

const wallets = Array.from({ length: 4 }, sampleAddress)
const mints = Array.from({ length: 2 }, sampleAddress)
const splits: readonly (readonly SplitShare[])[] = [
  defaultSplit,
  [
    { account: 'burn', perMille: 300 },
    { account: 'provider', perMille: 650 },
    { account: 'data-partners', perMille: 50 },
  ],
  [
    { account: 'burn', perMille: 1_000 },
    { account: 'provider', perMille: 0 },
  ],
]
// Two days after the close of September, and the two milliseconds around a midnight of this month.
const lateMs = Date.parse('2026-09-20T12:00:00.000Z')
const midnightMs = Math.floor(Date.now() / 86_400_000) * 86_400_000

const payment = fc.record({
  wallet: fc.constantFrom(...wallets),
  endpoint: fc.constantFrom('/api/data/crypto', '/api/data/weather'),
  requiredBaseUnits: fc.bigInt({ min: 1n, max: 10n ** 12n }),
  overpaidBaseUnits: fc.constantFrom(0n, 0n, 1n, 10n ** 6n),
  blockTimeMs: fc.constantFrom(lateMs, midnightMs - 1, midnightMs),
  end: fc.constantFrom(...ends, 'fulfilled', 'finalized'),
  isPaidWhole: fc.boolean(),
  mint: fc.constantFrom(...mints),
  policy: fc.constantFrom(...splits),
  owner: fc.constantFrom(undefined, ...wallets),
})

async function dump(): Promise<readonly string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'reports' and table_type = 'BASE TABLE' order by 1`,
  )
  const dumps = rows.map(({ name }) =>
    admin.query<{ line: string }>(`select '${name} ' || t::text as line from reports.${name} t order by 1`),
  )
  return (await Promise.all(dumps)).flatMap((table) => table.rows.map(({ line }) => line))
}

/** Rolls up in steps of these sizes, again and again, until the reports have all events. */
async function rollUpBy(steps: readonly number[]): Promise<void> {
  for (let step = 0; (await rollUp(ledger.database, steps[step % steps.length])) > 0; step++);
}

test('whatever happened to payments and wherever steps end, the tables are those derived from the events', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(payment, { minLength: 1, maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
      async (payments, steps) => {
        for (const { mint, policy, ...given } of payments) {
          const { requiredBaseUnits } = given
          const price = { ...samplePrice(given.endpoint, requiredBaseUnits), mint, ...split(requiredBaseUnits, policy) }
          await seedPayment(ledger, { ...given, price })
        }
        // The events of this run in their steps, on top of those before; then all events in other steps.
        await rollUpBy(steps)
        expect((await admin.query(reportsQuery)).rows).toEqual([])
        const grown = await dump()
        await owner.query('select reports.reset()')
        await rollUpBy([10_000])
        expect(await dump()).toEqual(grown)
      },
    ),
    { numRuns: 20 },
  )
})

test('a debt beyond the position of the reports is not among the refunds, although its payment has another debt', async () => {
  const { database } = ledger
  const wallet = sampleAddress()
  const amounts = { requiredBaseUnits: 1_000n, overpaidBaseUnits: 11n }
  await seedPayment(ledger, { ...amounts, wallet, endpoint: '/x', blockTimeMs: lateMs, end: 'refund_due' })
  const causes = async () => (await readRefunds(database, { wallets: [wallet] })).map(({ cause }) => cause)
  const { position, headPosition } = await reportPosition(database)
  await rollUp(database, headPosition - position - 1)
  // As if the reports had come so far before the payment was final. The audit accepts that of a stream that has gone
  // on.
  await admin.query('update reports.payments set is_final = not is_final where wallet = $1', [wallet])
  expect((await admin.query(reportsQuery)).rows).toEqual([])
  expect(await causes()).toEqual(['overpaid'])
  await rollUpBy([1])
  expect(await causes()).toEqual(['overpaid', 'undelivered'])
})

test('tokens that a caller sent out of the account of another wallet are a refund of their owner', async () => {
  const [wallet, owner] = [sampleAddress(), sampleAddress()]
  const amounts = { requiredBaseUnits: 1_000n, overpaidBaseUnits: 0n }
  const sent = {
    ...amounts,
    wallet,
    owner,
    endpoint: '/x',
    blockTimeMs: midnightMs,
    end: 'submitted_unmatched',
  } as const
  const reference = await seedPayment(ledger, sent)
  await rollUpBy([1])
  expect(await readRefunds(ledger.database, { wallets: [wallet] })).toEqual([])
  const refunds = await readRefunds(ledger.database, { wallets: [owner] })
  expect(refunds).toMatchObject([{ reference, account: `Liabilities:Unmatched:${owner}`, cause: 'unmatched' }])
})
