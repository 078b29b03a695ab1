import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { leafHash } from '@tollbook/core/leaf'
import type { Item, ItemEvent, Posting } from '@tollbook/ledger/item'
import { decideFulfil } from '../../src/payment/attempt.ts'
import { evolveAll } from '../../src/payment/payment.ts'
import type { PaymentChange } from '../../src/payment/paymentLedger.ts'
import { signatureOf, streamIdOf } from '../../src/payment/paymentReference.ts'
import { silentLog } from '../../src/machine/log.ts'
import { databaseOn } from '../../src/store/database.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { idempotencyKeyBytes, paymentItem } from '../../src/store/paymentItem.ts'
import { findRecorded, recordPayout } from '../../src/store/payoutStore.ts'
import { createTestDatabase } from '../support/database.ts'
import { openPool } from '../kernel/openKernel.ts'
import { mustAppend, openInstance } from './instance.ts'
import {
  claimOf,
  fulfilmentOf,
  releaseOf,
  sampleAddress,
  sampleEvidence,
  sampleMint,
  sampleReference,
  sampleSettlement,
} from './samplePayment.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const other = await openInstance(serviceUrl)
const admin = openPool(adminUrl, 2)

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

/** The item of a change, with its events changed by hand, as no code of ours would. */
function tampered(change: PaymentChange, alter: (event: ItemEvent, index: number) => ItemEvent): Item {
  const item = paymentItem(change)
  return { ...item, events: item.events.map(alter) }
}

const refusedAs = (reason: string) => ({ outcome: 'refused', refusal: { reason } })

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

test('I17: an item whose postings go where its step may not is refused by SQL, and its neighbours are taken', async () => {
  const changes = Array.from({ length: 5 }, () => claimOf(sampleSettlement()).change)
  const other = sampleAddress()
  const wrong: readonly ((posting: Posting) => Posting)[] = [
    (posting) => ({ ...posting, credit: 'Liabilities:Share:provider' }),
    (posting) => ({ ...posting, debit: 'Assets:NoSuchAccount' }),
    (posting) => ({ ...posting, debit: posting.credit, credit: posting.debit }),
    (posting) => ({ ...posting, amountBaseUnits: 0n, mint: other }),
  ]
  for (const alter of wrong) {
    const items = changes.map((change, index) =>
      index === 2
        ? tampered(change, (event) => ({ ...event, postings: event.postings.map(alter) }))
        : paymentItem(claimOf(sampleSettlement()).change),
    )
    const outcomes = await Promise.all(items.map((item) => ledger.kernel.append(item)))
    expect(outcomes[2]).toEqual(refusedAs('overreaching'))
    expect(outcomes.filter(({ outcome }) => outcome === 'appended')).toHaveLength(4)
  }
  const seqs = (await storedEvents()).map(({ seq }) => seq)
  expect(seqs).toEqual(seqs.map((_, index) => index + 1))
})

test('I3: SQL refuses a step that does not start in the state, and a version that has not been reached', async () => {
  const settlement = sampleSettlement()
  const { attemptId, change } = claimOf(settlement)
  const claimed = evolveAll(change.before, change.events, 0)
  const { fulfil, release } = {
    fulfil: paymentItem(fulfilmentOf(settlement, { before: claimed, attemptId })),
    release: paymentItem(releaseOf(settlement, { before: claimed, attemptId })),
  }
  for (const item of [
    fulfil,
    release,
    { ...fulfil, expectedVersion: 0 },
    { ...paymentItem(change), expectedVersion: 3 },
  ])
    expect(await ledger.kernel.append(item), item.step).toEqual(refusedAs('conflict'))
})

test('what is owed cannot be written off through the append of the service', async () => {
  for (const debit of ['Liabilities:Share:provider', 'Liabilities:RefundsDue:x', 'Liabilities:Unmatched:x']) {
    const item = tampered(claimOf(sampleSettlement()).change, (event) => ({
      ...event,
      postings: [{ debit, credit: 'Assets:PaymentWallet', mint: sampleMint, amountBaseUnits: 1n }],
    }))
    expect(await ledger.kernel.append(item), debit).toEqual(refusedAs('overreaching'))
  }
  const item = { ...paymentItem(claimOf(sampleSettlement()).change), step: 'payout.record' }
  expect(await ledger.kernel.append(item)).toEqual(refusedAs('not_this_step'))
})

test('I1: SQL refuses a second fulfilment that passes itself off as finality, and finality in the middle of a claim', async () => {
  const settlement = sampleSettlement()
  const { attemptId, change } = claimOf(settlement)
  const claimed = await mustAppend(ledger, change)
  const exposed = { mint: sampleMint, exposedBaseUnits: 0n }
  const finalized = [{ kind: 'PaymentFinalized', slot: 1, ...exposed }] as const
  const { reference } = settlement
  const finalize = { reference, step: 'payment.finalize', events: finalized, nowMs: 0 } as const
  expect(await ledger.payments.append({ ...finalize, before: claimed.after })).toEqual({ outcome: 'conflict' })
  const again = fulfilmentOf(settlement, { before: claimed.after, attemptId })
  const served = await mustAppend(ledger, again)
  const disguised = paymentItem({ ...again, before: served.after, step: 'payment.finalize' })
  expect(await ledger.kernel.append(disguised)).toEqual(refusedAs('not_this_step'))
  const really = { ...finalize, before: served.after }
  const { after } = await mustAppend(ledger, really)
  expect(await ledger.payments.append({ ...really, before: after }), 'final is final').toEqual({ outcome: 'conflict' })
})

test('one item that the database cannot take fails alone; the others of its batch are appended', async () => {
  // A leaf entry holds 65,535 bytes at most, 16 of them position and time.
  const evidence = sampleEvidence({ transactionBase64: 'A'.repeat(65_519) })
  const poison = sampleSettlement({ evidence })
  const settlements = [sampleSettlement(), poison, sampleSettlement(), sampleSettlement()]
  const outcomes = await Promise.allSettled(
    settlements.map((settlement) => ledger.payments.append(claimOf(settlement).change)),
  )
  expect(outcomes).toMatchObject([
    { value: { outcome: 'appended' } },
    { status: 'rejected', reason: { message: expect.stringContaining('payment.claim'), retryable: false } },
    { value: { outcome: 'appended' } },
    { value: { outcome: 'appended' } },
  ])
  const known = await ledger.payments.lookUp({ ...poison, idempotencyKey: undefined })
  expect(known.payment).toEqual({ phase: 'unknown', version: 0 })
})

test('a signature that paid a payout or a burn is not a payment, for any caller', async () => {
  const reference = sampleReference()
  const { database } = ledger
  const signature = assertPresent(signatureOf(reference), 'a reference has a signature')
  const settlement = sampleSettlement({ reference })
  const paid = await mustAppend(ledger, claimOf(sampleSettlement()).change)
  expect(paid.after.phase).toBe('claimed')
  const account = `Liabilities:Overpaid:${settlement.wallet}`
  const generous = sampleSettlement({ wallet: settlement.wallet, receivedBaseUnits: settlement.receivedBaseUnits + 5n })
  await mustAppend(ledger, claimOf(generous).change)
  const payments = [{ account, wallet: settlement.wallet, paidBaseUnits: 5n }]
  const payout = {
    kind: 'DistributionPaid',
    signature,
    planId: 'p',
    part: 1,
    mint: sampleMint,
    slot: 1,
    payments,
  } as const
  expect(await recordPayout(databaseOn(admin), payout, 0)).toMatchObject({ outcome: 'recorded' })
  expect(await ledger.payments.append(claimOf(settlement).change)).toEqual({ outcome: 'conflict' })
  expect((await ledger.payments.lookUp({ ...settlement, idempotencyKey: undefined })).payment.phase).toBe('unmatched')
  expect(await ledger.lifecycle.findAccounted([reference, sampleReference()])).toEqual(new Set([reference]))
  expect((await findRecorded(database, [signature])).get(signature)).toEqual({ planId: 'p', part: 1 })
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

test('an instance that closes first records what was handed to it', async () => {
  const closing = await openLedger({
    databaseUrl: serviceUrl,
    applicationName: 'closing',
    clock: systemClock,
    log: silentLog,
  })
  const appending = closing.payments.append(claimOf(sampleSettlement()).change)
  await closing.close()
  expect(await appending).toMatchObject({ outcome: 'appended' })
})

test('nothing is exposed for a mint without payments, and elected work says that it ran', async () => {
  expect(await ledger.lifecycle.exposureBaseUnits(sampleAddress())).toBe(0n)
  expect(await ledger.lifecycle.runElected('a job', () => Promise.resolve())).toBe(true)
})

test('a key stands for its order for 24 hours', () => {
  const { change } = claimOf(sampleSettlement(), { idempotencyKey: 'k' })
  expect(paymentItem(change).keys).toMatchObject([{ space: 10, lifetimeSeconds: day / 1000 }])
})

test('of two payments under one key in the same batch one is accepted and the other is refused with key_used', async () => {
  const wallet = sampleAddress()
  const claims = [sampleSettlement({ wallet }), sampleSettlement({ wallet })].map((settlement) =>
    ledger.payments.append(claimOf(settlement, { idempotencyKey: 'twice' }).change),
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
    idempotency,
    answerJson,
  })
  const { leaves, recordedAtMs } = await mustAppend(ledger, fulfilment)
  const question = { ...settlement, idempotencyKey: 'answer' }
  const [leaf] = leaves
  expect((await other.payments.lookUp(question)).earlier).toEqual({
    reference: settlement.reference,
    orderDigest: idempotency.orderDigest,
    answer: { answerJson, attemptId, recordedAtMs, ...leaf },
  })
  const key = idempotencyKeyBytes(settlement.wallet, 'answer')
  const age = (ms: number) =>
    admin.query(`
      begin;
      set local ledger.writing = 'on';
      update ledger.keys set until = now() + ${day - ms} * interval '1 millisecond' where key = '\\x${key.toString('hex')}';
      update ledger.notes set recorded_at = now() - ${ms} * interval '1 millisecond'
        where id = '\\x${Buffer.from(streamIdOf(settlement.reference)).toString('hex')}';
      commit`)
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
  const { rowCount } = await admin.query('select from ledger.keys where key = $1', [key])
  expect(rowCount).toBe(0)
})

test('a payment that is seen fulfilled always comes with its stored answer, however close the two reads are', async () => {
  for (let round = 0; round < 20; round++) {
    const settlement = sampleSettlement()
    const idempotency = { wallet: settlement.wallet, key: 'race', orderDigest: 'ab'.repeat(32) }
    const { attemptId, change } = claimOf(settlement, { idempotencyKey: 'race' })
    const { after } = await mustAppend(ledger, change)
    const fulfilling = ledger.payments.append(
      fulfilmentOf(settlement, { before: after, attemptId, idempotency, answerJson: '{}' }),
    )
    const looks = Array.from({ length: 12 }, () => other.payments.lookUp({ ...settlement, idempotencyKey: 'race' }))
    const seen = await Promise.all(looks)
    await fulfilling
    for (const { payment, earlier } of seen) {
      if (payment.phase === 'fulfilled') expect(earlier?.answer).toBeDefined()
    }
  }
})

test('a note answers only the order that was fulfilled, under whichever key it was made', async () => {
  const settlement = sampleSettlement()
  const first = claimOf(settlement, { idempotencyKey: 'first' })
  const claimed = await mustAppend(ledger, first.change)
  const released = await mustAppend(
    ledger,
    releaseOf(settlement, { before: claimed.after, attemptId: first.attemptId }),
  )
  const digest = 'ef'.repeat(32)
  const second = claimOf(settlement, { before: released.after, idempotencyKey: 'second', order: { digest } })
  const again = await mustAppend(ledger, second.change)
  const idempotency = { wallet: settlement.wallet, key: 'second', orderDigest: digest }
  const fulfil = decideFulfil(again.after, { attemptId: second.attemptId, orderDigest: digest, answerDigest: 'cd' })
  const decision = assertPresent(fulfil, 'the attempt is live')
  await mustAppend(ledger, {
    reference: settlement.reference,
    before: again.after,
    ...decision,
    nowMs: 0,
    idempotency,
    answerJson: '{}',
  })
  const earlier = async (idempotencyKey: string) =>
    (await ledger.payments.lookUp({ ...settlement, idempotencyKey })).earlier
  expect(await earlier('second')).toMatchObject({ orderDigest: digest, answer: { answerJson: '{}' } })
  expect(await earlier('first')).toEqual({
    reference: settlement.reference,
    orderDigest: 'ab'.repeat(32),
    answer: undefined,
  })
})
