import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideFinality, decideRefund, decideUnmatched } from '../../src/payment/finality.ts'
import { decideBreak, decideStart } from '../../src/payment/attempt.ts'
import { type PaymentDecision, type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import { decideSubmit } from '../../src/payment/submission.ts'
import { referenceOfStream } from '../../src/payment/paymentReference.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { assertPresent } from '@tollbook/core/assert'
import { createTestDatabase } from '../support/database.ts'
import { mustAppend, openInstance, openSessions } from './instance.ts'
import { describe as describeEntry, type Replayed, replay } from './replayLedger.ts'
import {
  claimOf,
  fulfilmentOf,
  releaseOf,
  sampleEvidence,
  sampleMint,
  samplePrice,
  sampleSettlement,
} from './samplePayment.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const instances = await Promise.all([openInstance(serviceUrl), openInstance(serviceUrl)])
const admin = openSessions(adminUrl)

const story = fc.record({
  endpoint: fc.constantFrom('/api/data/weather', '/api/tools/pdf'),
  required: fc.oneof(fc.bigInt({ min: 1n, max: 5n }), fc.bigInt({ min: 1n, max: 10n ** 18n })),
  overpaid: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 15n })),
  burnedMore: fc.bigInt({ min: 0n, max: 1_000n }),
  isPaidWhole: fc.boolean(),
  streams: fc.boolean(),
  hoursAgo: fc.nat(100),
  submitted: fc.boolean(),
  quoted: fc.boolean(),
  failures: fc.nat(2),
  ending: fc.constantFrom('claimed', 'released', 'fulfilled'),
  afterwards: fc.constantFrom('nothing', 'finalized', 'reversed', 'refund', 'landed after all'),
})
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never

const noon = Date.parse('2026-11-20T12:34:56.789Z')

async function live(story: Story, index: number): Promise<void> {
  const ledger = instances[index % 2]
  if (ledger === undefined) throw new Error('there are two instances')
  const price = samplePrice(story.endpoint, story.required)
  const settlement = sampleSettlement({
    price,
    burnedBaseUnits: story.isPaidWhole ? 0n : price.burnBaseUnits + story.burnedMore,
    receivedBaseUnits: price.requiredBaseUnits - (story.isPaidWhole ? 0n : price.burnBaseUnits) + story.overpaid,
    evidence: sampleEvidence({ blockTimeMs: noon - story.hoursAgo * 3_600_000 }),
    ...(story.quoted ? {} : { quoteId: undefined }),
  })
  const { reference, wallet } = settlement
  let before: PaymentState = unknownPayment
  if (story.submitted) {
    const intent = { wallet, endpoint: story.endpoint, quoteId: undefined, transactionBase64: 'AQ==' }
    const decision = assertPresent(decideSubmit(before, intent), 'a new payment is submitted')
    before = (await mustAppend(ledger, { reference, before, ...decision, nowMs: noon })).after
  }
  for (let failure = 0; failure <= story.failures; failure++) {
    const { attemptId, change } = claimOf(settlement, { before })
    before = (await mustAppend(ledger, change)).after
    const isLast = failure === story.failures
    if (isLast && story.ending === 'claimed') return
    const fulfils = isLast && story.ending === 'fulfilled'
    if (story.streams) {
      const started = assertPresent(decideStart(before, attemptId), 'the attempt is live')
      before = (await mustAppend(ledger, { reference, before, ...started, nowMs: noon })).after
    }
    const broken = decideBreak(before, { attemptId, bytes: 5, digest: 'ef'.repeat(32), attemptsMax: 10 })
    const end =
      fulfils || broken === undefined
        ? (fulfils ? fulfilmentOf : releaseOf)(settlement, { before, attemptId })
        : { reference, before, ...broken, nowMs: noon }
    before = (await mustAppend(ledger, end)).after
  }
  await goOn(ledger, { story, settlement, before })
}

interface Ended {
  readonly story: Story
  readonly settlement: Settlement
  readonly before: PaymentState
}

/** The steps after the answer, or after the last failure. */
async function goOn(ledger: Ledger, { story, settlement, before: ended }: Ended): Promise<void> {
  const { reference, wallet, evidence, price } = settlement
  const { slot } = evidence
  const { mint } = price
  let before = ended
  const record = async (decision: PaymentDecision | undefined) => {
    if (decision === undefined) return
    before = (await mustAppend(ledger, { reference, before, ...decision, nowMs: noon })).after
  }
  if (story.afterwards === 'nothing') return
  if (story.afterwards === 'finalized' || story.afterwards === 'refund') {
    await record(decideFinality(before, { kind: 'finalized', slot }))
    if (story.afterwards === 'refund') await record(decideRefund(before))
    return
  }
  await record(decideFinality(before, { kind: 'reversed', reason: 'absent', finalizedSlot: slot + 400 }))
  if (story.afterwards === 'reversed') return
  await record(decideUnmatched(before, { wallet, mint, receivedBaseUnits: 5n, slot }))
}

async function tables(): Promise<Replayed> {
  const streams = await admin.query(
    `select id, state, version, (extract(epoch from lease_until)::numeric * 1000)::float8 as lease from ledger.streams where kind = 'payment'`,
  )
  const entries = await admin.query('select seq::int, line, account, mint, amount from ledger.entries')
  const accounts = await admin.query(
    'select mint, name, balance, entries::int, debit_entries::int from ledger.accounts',
  )
  const tallies = await admin.query(
    `select a.mint, a.name, t.hour, t.amount, t.entries::int from ledger.tallies t join ledger.accounts a on a.id = t.account`,
  )
  return {
    streams: new Map(
      streams.rows.map(({ id, state, version, lease }) => [
        String(referenceOfStream(id)),
        { version, state, leaseUntilMs: lease },
      ]),
    ),
    entries: entries.rows.map((row) => describeEntry(row)).toSorted(),
    accounts: new Map(
      accounts.rows.map((row) => [
        `${row.mint} ${row.name}`,
        { balance: BigInt(row.balance), entries: row.entries, debits: row.debit_entries },
      ]),
    ),
    tallies: new Map(
      tallies.rows.map((row) => [
        `${row.mint} ${row.name} ${row.hour.toISOString()}`,
        { amount: BigInt(row.amount), entries: row.entries },
      ]),
    ),
  }
}

test('I24: whatever happens to payments, replaying the bodies gives every stream, entry, account and tally', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(story, { minLength: 1, maxLength: 30 }), async (stories) => {
      await Promise.all(stories.map(live))
      const [fromEvents, fromTables] = [await replay(admin), await tables()]
      expect(fromTables.streams).toEqual(fromEvents.streams)
      expect(fromTables.entries).toEqual(fromEvents.entries)
      expect(fromTables.accounts).toEqual(fromEvents.accounts)
      expect(fromTables.tallies).toEqual(fromEvents.tallies)
    }),
    { numRuns: 8, endOnFailure: true },
  )
})

test('I17: the entries of the whole ledger sum to zero per event and mint, and so do the balances', async () => {
  const perEvent = await admin.query('select from ledger.entries group by seq, mint having sum(amount) <> 0')
  expect(perEvent.rowCount).toBe(0)
  const { rows } = await admin.query('select mint, sum(balance)::text as sum from ledger.accounts group by mint')
  expect(rows).toEqual([{ mint: sampleMint, sum: '0' }])
})

test('I24: the replay notices a balance that is off by one base unit', async () => {
  await admin.query(`
    begin;
    alter table ledger.accounts disable trigger all;
    update ledger.accounts set balance = balance - 1 where name = 'Liabilities:Share:provider';
    commit`)
  expect((await tables()).accounts).not.toEqual((await replay(admin)).accounts)
})
