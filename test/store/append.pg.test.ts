import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { leafHash } from '@tollbook/core/leaf'
import { appendCall, appendValues, paymentItem } from '../../src/store/appendBatch.ts'
import { createTestDatabase } from '../support/database.ts'
import { mustAppend, openEventStore, openInstance, openSessions } from './instance.ts'
import { claimOf, fulfilmentOf, releaseOf, sampleAddress, sampleSettlement } from './samplePayment.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const other = await openInstance(serviceUrl)
const { events: store } = openEventStore(serviceUrl, 5_000)
const service = openSessions(serviceUrl)
const admin = openSessions(adminUrl)

const day = 24 * 60 * 60 * 1000

interface StoredEvent {
  readonly seq: number
  readonly recorded_at: Date
  readonly body: Buffer
  readonly leaf_hash: Buffer
}

async function storedEvents(): Promise<readonly StoredEvent[]> {
  const { rows } = await admin.query<StoredEvent>(
    'select seq::int, recorded_at, body, leaf_hash from ledger.events order by seq',
  )
  return rows
}

function recomputed({ seq, recorded_at: recordedAt, body }: StoredEvent): Buffer {
  return Buffer.from(leafHash({ position: seq, recordedAtMs: recordedAt.getTime(), body }))
}

const parameterNames = [...appendCall.matchAll(/(\w+) => /g)].map(([, name]) => name)

/** The arguments for these claims with one column changed by hand, as no code of ours would. */
function tampered(
  settlements: readonly ReturnType<typeof sampleSettlement>[],
  name: string,
  change: (column: unknown[]) => void,
) {
  const values = [...appendValues(settlements.map((settlement) => paymentItem(claimOf(settlement).change)))]
  const column = values[parameterNames.indexOf(name)]
  if (!Array.isArray(column)) throw new Error(`${name} is a column`)
  change(column)
  return values
}

test('positions are 1, 2, 3 without a gap, in the order of their commits, refused appends between them or not', async () => {
  const settlements = Array.from({ length: 60 }, () => sampleSettlement())
  const twice = [...settlements, ...settlements].map((settlement, index) =>
    (index % 2 === 0 ? ledger : other).payments.append(claimOf(settlement).change),
  )
  const outcomes = await Promise.all(twice)
  const taken = outcomes.flatMap((appended) => (appended.outcome === 'appended' ? [appended] : []))
  expect(taken).toHaveLength(60)
  for (const { leaves } of taken) {
    const [first] = leaves
    expect(leaves.map(({ position }) => position)).toEqual(leaves.map((_, k) => Number(first?.position) + k))
  }
  const seqs = (await storedEvents()).map(({ seq }) => seq)
  expect(seqs).toEqual(seqs.map((_, index) => index + 1))
  const { rows } = await admin.query('select seq::int from ledger.head')
  expect(rows).toEqual([{ seq: seqs.length }])
  const order = await admin.query(
    'select from (select recorded_at, lag(recorded_at) over (order by seq) as earlier from ledger.events) e where recorded_at < earlier',
  )
  expect(order.rowCount).toBe(0)
})

test('I23: the leaf that SQL stores and returns is the one that leaf.ts computes, for each event', async () => {
  const { leaves } = await mustAppend(ledger, claimOf(sampleSettlement()).change)
  const events = await storedEvents()
  for (const event of events) expect(event.leaf_hash.equals(recomputed(event)), `position ${event.seq}`).toBe(true)
  const byPosition = new Map(events.map((event) => [event.seq, event.leaf_hash.toString('hex')]))
  expect(leaves.map(({ position, leafHash }) => byPosition.get(position) === leafHash)).toEqual([true, true, true])
})

test('I23: one changed byte of a body, one changed time or a row moved to another position no longer fits its leaf', async () => {
  const [event] = await storedEvents()
  const stored = assertPresent(event, 'an event is stored')
  for (const index of [0, Math.floor(stored.body.length / 2), stored.body.length - 1]) {
    const body = Buffer.from(stored.body)
    body.writeUInt8(body.readUInt8(index) ^ 1, index)
    expect(recomputed({ ...stored, body }).equals(stored.leaf_hash)).toBe(false)
  }
  const later = new Date(stored.recorded_at.getTime() + 1)
  expect(recomputed({ ...stored, recorded_at: later }).equals(stored.leaf_hash)).toBe(false)
  expect(recomputed({ ...stored, seq: stored.seq + 1 }).equals(stored.leaf_hash)).toBe(false)
  expect(recomputed(stored).equals(stored.leaf_hash)).toBe(true)
})

test('I17: entries that do not sum to zero per event and mint are refused by SQL, and their neighbours are taken', async () => {
  const settlements = Array.from({ length: 5 }, () => sampleSettlement())
  // Four entries a claim: the ninth is the first of the third item.
  const values = tampered(settlements, 'entry_amounts', (amounts) => amounts.splice(8, 1, '7000001'))
  const { rows } = await service.query<{ n: number; refusal: string | null }>(appendCall, values)
  expect(rows.toSorted((one, two) => one.n - two.n).map(({ refusal }) => refusal)).toEqual([
    null,
    null,
    'unbalanced',
    null,
    null,
  ])
  const seqs = (await storedEvents()).map(({ seq }) => seq)
  expect(seqs).toEqual(seqs.map((_, index) => index + 1))
})

test('I17: entries that sum to zero only over two mints, or only over two events, are refused', async () => {
  const mint = sampleAddress()
  const overTwoMints = tampered([sampleSettlement()], 'entry_mints', (mints) => mints.splice(0, 1, mint))
  const overTwoEvents = tampered([sampleSettlement()], 'entry_events', (events) => events.splice(0, 1, 2))
  for (const values of [overTwoMints, overTwoEvents]) {
    const { rows } = await service.query<{ refusal: string }>(appendCall, values)
    expect(rows).toMatchObject([{ refusal: 'unbalanced' }])
  }
})

test.each([
  ['a claim of attempt 2 where attempt 1 never was', 'attempts', 2],
  ['a fulfilment of a payment that nobody claimed', 'states', 'fulfilled'],
  ['a release of a payment that nobody claimed', 'states', 'released'],
  ['a version that has not been reached', 'expected_versions', 3],
])('I3: SQL refuses %s, whoever decided it', async (_, column, value) => {
  const values = tampered([sampleSettlement()], column, (cells) => cells.splice(0, 1, value))
  const { rows } = await service.query<{ refusal: string }>(appendCall, values)
  expect(rows).toMatchObject([{ refusal: 'conflict' }])
})

test('what is owed cannot be written off through the append of the service, however well it balances', async () => {
  for (const account of ['Liabilities:Provider', 'Liabilities:RefundsDue:x', 'Liabilities:Unmatched:x']) {
    const values = tampered([sampleSettlement()], 'entry_accounts', (accounts) => accounts.splice(0, 1, account))
    const { rows } = await service.query<{ refusal: string }>(appendCall, values)
    expect(rows, account).toMatchObject([{ refusal: 'overreaching' }])
  }
})

test('I1: SQL refuses a second fulfilment that passes itself off as finality, and finality in the middle of a claim', async () => {
  const settlement = sampleSettlement()
  const { attemptId, change } = claimOf(settlement)
  const claimed = await mustAppend(ledger, change)
  const finalized = [{ kind: 'PaymentFinalized', slot: 1 }] as const
  const during = { signature: settlement.signature, before: claimed.after, events: finalized, nowMs: 0 }
  expect(await ledger.payments.append(during)).toEqual({ outcome: 'conflict' })
  const served = await mustAppend(ledger, fulfilmentOf(settlement, { before: claimed.after, attemptId }))
  const again = fulfilmentOf(settlement, { before: claimed.after, attemptId })
  const disguised = [...appendValues([paymentItem({ ...again, before: served.after })])]
  disguised[parameterNames.indexOf('awaiting')] = [false]
  disguised[parameterNames.indexOf('exposed')] = ['0']
  const { rows } = await service.query<{ refusal: string }>(appendCall, disguised)
  expect(rows).toMatchObject([{ refusal: 'conflict' }])
  const really = { signature: settlement.signature, before: served.after, events: finalized, nowMs: 0 }
  const { after } = await mustAppend(ledger, really)
  expect(await ledger.payments.append({ ...really, before: after }), 'final is final').toEqual({ outcome: 'conflict' })
})

test('one item that the database cannot take fails alone; the others of its batch are appended', async () => {
  // A leaf entry holds 65,535 bytes at most, 16 of them position and time.
  const poison = sampleSettlement({ transactionBase64: 'A'.repeat(65_519) })
  const settlements = [sampleSettlement(), poison, sampleSettlement(), sampleSettlement()]
  const outcomes = await Promise.allSettled(
    settlements.map((settlement) => store.submit(paymentItem(claimOf(settlement).change))),
  )
  expect(outcomes).toMatchObject([
    { value: { outcome: 'appended' } },
    { status: 'rejected', reason: { message: expect.stringContaining(poison.signature), retryable: false } },
    { value: { outcome: 'appended' } },
    { value: { outcome: 'appended' } },
  ])
  const known = await ledger.payments.lookUp({ ...poison, idempotencyKey: undefined })
  expect(known.payment).toEqual({ phase: 'unknown', version: 0 })
})

test('an Idempotency-Key that stands for one order is refused for another payment and for another order', async () => {
  const settlement = sampleSettlement()
  const first = claimOf(settlement, { idempotencyKey: 'k' })
  const { after } = await mustAppend(ledger, first.change)
  const another = sampleSettlement({ wallet: settlement.wallet })
  expect(await other.payments.append(claimOf(another, { idempotencyKey: 'k' }).change)).toEqual({
    outcome: 'idempotency_key_reused',
  })
  const released = await mustAppend(ledger, releaseOf(settlement, { before: after, attemptId: first.attemptId }))
  const digest = 'ef'.repeat(32)
  const changed = claimOf(settlement, { before: released.after, idempotencyKey: 'k', order: { digest } })
  expect(await other.payments.append(changed.change)).toEqual({ outcome: 'idempotency_key_reused' })
  const same = claimOf(settlement, { before: released.after, idempotencyKey: 'k' })
  expect(await other.payments.append(same.change)).toMatchObject({ outcome: 'appended' })
  const stranger = claimOf(sampleSettlement(), { idempotencyKey: 'k' })
  expect(await other.payments.append(stranger.change)).toMatchObject({ outcome: 'appended' })
})

test('of two payments under one key in the same batch one is taken and the other is told that the key is used', async () => {
  const wallet = sampleAddress()
  const claims = [sampleSettlement({ wallet }), sampleSettlement({ wallet })].map((settlement) =>
    store.submit(paymentItem(claimOf(settlement, { idempotencyKey: 'twice' }).change)),
  )
  const outcomes = (await Promise.all(claims)).map(({ outcome }) => outcome)
  expect(outcomes).toEqual(['appended', 'idempotency_key_reused'])
})

test('a stored answer is given back for 24 hours, after which its key is free again', async () => {
  const settlement = sampleSettlement()
  const idempotency = { wallet: settlement.wallet, key: 'answer', orderDigest: 'ab'.repeat(32) }
  const { attemptId, change } = claimOf(settlement, { idempotencyKey: 'answer' })
  const claimed = await mustAppend(ledger, change)
  const answerJson = JSON.stringify({ data: 'quote " backslash \\ brace } comma , null', more: '\u00e9\u{1f600}' })
  const fulfilment = fulfilmentOf(settlement, {
    before: claimed.after,
    attemptId,
    idempotency: { ...idempotency, answerJson },
  })
  const { leaves, recordedAtMs } = await mustAppend(ledger, fulfilment)
  const question = { ...settlement, idempotencyKey: 'answer' }
  const [leaf] = leaves
  expect((await other.payments.lookUp(question)).earlier).toEqual({
    signature: settlement.signature,
    orderDigest: idempotency.orderDigest,
    answer: { answerJson, recordedAtMs, ...leaf },
  })
  const age = (ms: number) =>
    admin.query(
      `update paywall.idempotent_answers set recorded_at = now() - $1 * interval '1 millisecond' where key = 'answer'`,
      [ms],
    )
  await age(day - 60_000)
  await ledger.forgetOldAnswers()
  expect((await other.payments.lookUp(question)).earlier).toBeDefined()
  await age(day + 1)
  expect((await other.payments.lookUp(question)).earlier).toBeUndefined()
  const next = sampleSettlement({ wallet: settlement.wallet })
  expect(await ledger.payments.append(claimOf(next, { idempotencyKey: 'answer' }).change)).toMatchObject({
    outcome: 'appended',
  })
  await age(day + 1)
  await ledger.forgetOldAnswers()
  const { rowCount } = await admin.query(`select from paywall.idempotent_answers where key = 'answer'`)
  expect(rowCount).toBe(0)
})

test('a payment that is seen fulfilled always comes with its stored answer, however close the two reads are', async () => {
  for (let round = 0; round < 20; round++) {
    const settlement = sampleSettlement()
    const idempotency = { wallet: settlement.wallet, key: 'race', orderDigest: 'ab'.repeat(32), answerJson: '{}' }
    const { attemptId, change } = claimOf(settlement, { idempotencyKey: 'race' })
    const { after } = await mustAppend(ledger, change)
    const fulfilling = ledger.payments.append(fulfilmentOf(settlement, { before: after, attemptId, idempotency }))
    const looks = Array.from({ length: 12 }, () => other.payments.lookUp({ ...settlement, idempotencyKey: 'race' }))
    const seen = await Promise.all(looks)
    await fulfilling
    for (const { payment, earlier } of seen) {
      if (payment.phase === 'fulfilled') expect(earlier?.answer).toBeDefined()
    }
  }
})
