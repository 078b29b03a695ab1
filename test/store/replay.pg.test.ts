import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PaymentEvent } from '../../src/payment/events.ts'
import { decideFinality, decideRefund, decideUnmatched } from '../../src/payment/finality.ts'
import { type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { encodeBase58 } from '@tollbook/core/base58'
import { createTestDatabase } from '../support/database.ts'
import { mustAppend, openInstance, openSessions } from './instance.ts'
import { describe as describeEntry, type Replayed, replay } from './replayLedger.ts'
import { claimOf, fulfilmentOf, releaseOf, sampleMint, samplePrice, sampleSettlement } from './samplePayment.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const instances = await Promise.all([openInstance(serviceUrl), openInstance(serviceUrl)])
const admin = openSessions(adminUrl)

const story = fc.record({
  endpoint: fc.constantFrom('/api/data/weather', '/api/tools/pdf'),
  required: fc.oneof(fc.bigInt({ min: 1n, max: 5n }), fc.bigInt({ min: 1n, max: 10n ** 18n })),
  overpaid: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 15n })),
  burnedMore: fc.bigInt({ min: 0n, max: 1_000n }),
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
    burnedBaseUnits: price.burnBaseUnits + story.burnedMore,
    receivedBaseUnits: price.requiredBaseUnits - price.burnBaseUnits + story.overpaid,
    blockTimeMs: noon - story.hoursAgo * 3_600_000,
    ...(story.quoted ? {} : { quoteId: undefined }),
  })
  const { signature, wallet } = settlement
  let before: PaymentState = unknownPayment
  if (story.submitted) {
    const intent = { kind: 'PaymentSubmitted', wallet, endpoint: story.endpoint, quoteId: undefined } as const
    const events = [{ ...intent, transactionBase64: 'AQ==' }]
    before = (await mustAppend(ledger, { signature, before, events, nowMs: noon })).after
  }
  for (let failure = 0; failure <= story.failures; failure++) {
    const { attemptId, change } = claimOf(settlement, { before })
    before = (await mustAppend(ledger, change)).after
    const isLast = failure === story.failures
    if (isLast && story.ending === 'claimed') return
    const fulfils = isLast && story.ending === 'fulfilled'
    const end = (fulfils ? fulfilmentOf : releaseOf)(settlement, { before, attemptId })
    before = (await mustAppend(ledger, end)).after
  }
  await goOn(ledger, { story, settlement, before })
}

interface Ended {
  readonly story: Story
  readonly settlement: Settlement
  readonly before: PaymentState
}

/** What comes after the answer, or after there was none. */
async function goOn(ledger: Ledger, { story, settlement, before: ended }: Ended): Promise<void> {
  const { signature, wallet, slot, price } = settlement
  const { mint } = price
  let before = ended
  const record = async (events: readonly PaymentEvent[] | undefined) => {
    if (events === undefined) return
    before = (await mustAppend(ledger, { signature, before, events, nowMs: noon })).after
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

async function projections(): Promise<Replayed> {
  const payments = await admin.query(
    `select signature, version, state, awaiting_finality as awaiting, exposed, wallet, endpoint, attempt, quote_id, seqs::int[] as seqs,
       (extract(epoch from lease_until)::numeric * 1000)::float8 as lease from ledger.payments`,
  )
  const entries = await admin.query('select seq::int, line, account, mint, amount from ledger.entries')
  const balances = await admin.query('select mint, account, balance, entries::int, upto_seq::int from ledger.balances')
  const burns = await admin.query(
    `select mint, span, case when span <> 'all' then starts_at end as starts_at, endpoint, burned, payments::int from ledger.burn_totals`,
  )
  const exposure = await admin.query<{ amount: string }>('select amount from ledger.exposure')
  return {
    exposure: BigInt(exposure.rows[0]?.amount ?? -1),
    payments: new Map(
      payments.rows.map(({ signature, lease, quote_id: quoteId, ...row }) => [
        encodeBase58(signature),
        { ...row, quoteId, leaseUntilMs: lease },
      ]),
    ),
    entries: entries.rows.map((row) => describeEntry(row)).toSorted(),
    balances: new Map(
      balances.rows.map((row) => [
        `${row.mint} ${row.account}`,
        { balance: BigInt(row.balance), entries: row.entries, uptoSeq: row.upto_seq },
      ]),
    ),
    burns: new Map(
      burns.rows.map((row) => [
        `${row.mint} ${row.span} ${row.starts_at?.toISOString() ?? ''} ${row.endpoint}`,
        { burned: BigInt(row.burned), payments: row.payments },
      ]),
    ),
  }
}

test('I24: whatever happens to payments, replaying the bodies gives every payment, entry, balance and burn total', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(story, { minLength: 1, maxLength: 30 }), async (stories) => {
      await Promise.all(stories.map(live))
      const [fromEvents, fromTables] = [await replay(admin), await projections()]
      expect(fromTables.payments).toEqual(fromEvents.payments)
      expect(fromTables.entries).toEqual(fromEvents.entries)
      expect(fromTables.balances).toEqual(fromEvents.balances)
      expect(fromTables.burns).toEqual(fromEvents.burns)
      expect(fromTables.exposure).toEqual(fromEvents.exposure)
    }),
    { numRuns: 8, endOnFailure: true },
  )
}, 60_000)

test('I17: the entries of the whole book sum to zero per event and mint, and so do the balances', async () => {
  const perEvent = await admin.query('select from ledger.entries group by seq, mint having sum(amount) <> 0')
  expect(perEvent.rowCount).toBe(0)
  const { rows } = await admin.query('select mint, sum(balance)::text as sum from ledger.balances group by mint')
  expect(rows).toEqual([{ mint: sampleMint, sum: '0' }])
})

test('I24: the replay notices a projection that is off by one base unit', async () => {
  await admin.query(`
    begin;
    alter table ledger.balances disable trigger all;
    update ledger.balances set balance = balance + 1 where account = 'Liabilities:Provider';
    commit`)
  expect((await projections()).balances).not.toEqual((await replay(admin)).balances)
})
