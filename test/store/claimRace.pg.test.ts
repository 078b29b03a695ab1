import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { type PaymentReference, streamIdOf } from '../../src/payment/paymentReference.ts'
import { idempotencyKeyBytes, textOf } from '../../src/store/paymentItem.ts'
import { createTestDatabase } from '../support/database.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { mustAppend, openInstance, openSessions } from './instance.ts'
import { claimOf, fulfilmentOf, releaseOf, sampleEvidence, sampleSettlement } from './samplePayment.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const instances = await Promise.all(Array.from({ length: 6 }, () => openInstance(serviceUrl)))
const ledger = instance(0)
const admin = openSessions(adminUrl)

function instance(index: number) {
  return assertPresent(instances[index % instances.length], 'there are six instances')
}

async function eventsOf(reference: PaymentReference) {
  return instance(0).kernel.read(streamIdOf(reference))
}

async function eventKinds(reference: PaymentReference): Promise<readonly string[]> {
  return (await eventsOf(reference)).map(({ kind }) => kind)
}

/** Bodies of the claims of a payment. */
async function claimsOf(reference: PaymentReference): Promise<readonly unknown[]> {
  const claims = (await eventsOf(reference)).filter(({ kind }) => kind === 'ProofClaimed')
  return claims.map(({ body }): unknown => JSON.parse(textOf(body)))
}

test('I1: of 48 claims of one payment by six instances exactly one wins, for each of 20 payments', async () => {
  const settlements = Array.from({ length: 20 }, () => sampleSettlement())
  const races = settlements.map((settlement) =>
    Promise.all(
      Array.from({ length: 48 }, (_, caller) => instance(caller).payments.append(claimOf(settlement).change)),
    ),
  )
  const winners = (await Promise.all(races)).map(
    (outcomes) => outcomes.filter((outcome) => outcome.outcome === 'appended').length,
  )
  expect(winners).toEqual(settlements.map(() => 1))
  for (const { reference } of settlements) {
    expect(await eventKinds(reference)).toEqual(['PaymentVerified', 'TokensBurned', 'ProofClaimed'])
  }
})

test('I1: two orders with keys of their own cannot both claim one payment', async () => {
  const settlement = sampleSettlement()
  const claims = instances.map((instance, index) =>
    instance.payments.append(
      claimOf(settlement, { idempotencyKey: `order ${index}`, order: { digest: String(index % 2).repeat(64) } }).change,
    ),
  )
  const outcomes = (await Promise.all(claims)).map(({ outcome }) => outcome)
  expect(outcomes.toSorted()).toEqual(['appended', ...Array.from({ length: 5 }, () => 'conflict')])
  const keys = instances.map((_, index) => idempotencyKeyBytes(settlement.wallet, `order ${index}`))
  const stored = await admin.query('select from ledger.keys where key = any($1)', [keys])
  expect(stored.rowCount).toBe(1)
})

test('I1: of many who fulfil one claim at once exactly one is taken', async () => {
  const settlement = sampleSettlement()
  const { attemptId, change } = claimOf(settlement)
  const { after } = await mustAppend(instance(0), change)
  const fulfilments = instances.map((instance) =>
    instance.payments.append(fulfilmentOf(settlement, { before: after, attemptId })),
  )
  const outcomes = (await Promise.all(fulfilments)).map(({ outcome }) => outcome)
  expect(outcomes.filter((outcome) => outcome === 'appended')).toHaveLength(1)
  expect((await eventKinds(settlement.reference)).filter((kind) => kind === 'RequestFulfilled')).toHaveLength(1)
})

test('I2: a claim that has been answered is already visible to every other session', async () => {
  const claims = Array.from({ length: 40 }, async () => {
    const settlement = sampleSettlement()
    await mustAppend(ledger, claimOf(settlement).change)
    const id = Buffer.from(streamIdOf(settlement.reference))
    const { rows } = await admin.query('select state from ledger.streams where id = $1', [id])
    return rows
  })
  for (const rows of await Promise.all(claims)) expect(rows).toEqual([{ state: 'claimed' }])
})

test('I3: attempts are 1, 2, 3, and each new one needs the end of the one before', async () => {
  const settlement = sampleSettlement()
  let before = (await ledger.payments.lookUp({ ...settlement, idempotencyKey: undefined })).payment
  for (const attempt of [1, 2, 3]) {
    const { attemptId, change } = claimOf(settlement, { before })
    const { after } = await mustAppend(ledger, change)
    expect(after).toMatchObject({ phase: 'claimed', attempt })
    before = (await mustAppend(ledger, releaseOf(settlement, { before: after, attemptId }))).after
  }
  expect(await claimsOf(settlement.reference)).toMatchObject([{ attempt: 1 }, { attempt: 2 }, { attempt: 3 }])
})

test("I3: the database's clock decides whether a lease is live, not the clock of an instance", async () => {
  const settlement = sampleSettlement()
  const { after } = await mustAppend(ledger, claimOf(settlement, { leaseMs: 60_000 }).change)
  const hasty = claimOf(settlement, { before: after, nowMs: Date.now() + 24 * 60 * 60 * 1000 })
  expect(hasty.change.events.map(({ kind }) => kind)).toEqual(['RequestFailed', 'ProofClaimed'])
  expect(await ledger.payments.append(hasty.change)).toEqual({ outcome: 'conflict' })
})

test('I3: when its lease has ended an attempt can be taken over once, and can then no longer fulfil or release', async () => {
  const settlement = sampleSettlement()
  const first = claimOf(settlement, { leaseMs: 50 })
  const { after, recordedAtMs } = await mustAppend(ledger, first.change)
  await awaitThat('the lease has ended', async () => {
    const { rows } = await admin.query<{ now: Date }>('select clock_timestamp() as now')
    return Number(rows[0]?.now) > recordedAtMs + 50
  })
  const takeovers = instances.map(({ payments }) =>
    payments.append(claimOf(settlement, { before: after, nowMs: Date.now() + 1000 }).change),
  )
  const outcomes = await Promise.all(takeovers)
  expect(outcomes.filter(({ outcome }) => outcome === 'appended')).toHaveLength(1)
  const stale = { before: after, attemptId: first.attemptId }
  expect(await ledger.payments.append(fulfilmentOf(settlement, stale))).toEqual({ outcome: 'conflict' })
  expect(await ledger.payments.append(releaseOf(settlement, stale))).toEqual({ outcome: 'conflict' })
})

test('I3: an attempt that is late but not taken over may still fulfil', async () => {
  const settlement = sampleSettlement()
  const { attemptId, change } = claimOf(settlement, { leaseMs: 1 })
  const { after, recordedAtMs } = await mustAppend(ledger, change)
  await awaitThat('the lease has ended', () => Date.now() > recordedAtMs + 1)
  expect(await ledger.payments.append(fulfilmentOf(settlement, { before: after, attemptId }))).toMatchObject({
    outcome: 'appended',
  })
})

test('I4: a released payment is claimed again by the next caller, and is then fulfilled', async () => {
  const settlement = sampleSettlement()
  const first = claimOf(settlement)
  const claimed = await mustAppend(ledger, first.change)
  await mustAppend(ledger, releaseOf(settlement, { before: claimed.after, attemptId: first.attemptId }))
  const { payment } = await instance(1).payments.lookUp({ ...settlement, idempotencyKey: undefined })
  const second = claimOf(settlement, { before: payment })
  const again = await mustAppend(instance(1), second.change)
  await mustAppend(instance(1), fulfilmentOf(settlement, { before: again.after, attemptId: second.attemptId }))
  const kinds = await eventKinds(settlement.reference)
  expect(kinds.slice(2)).toEqual([
    'ProofClaimed',
    'RequestFailed',
    'ProofClaimed',
    'RequestFulfilled',
    'DistributionAllocated',
  ])
})

test('I5: a claimed payment is still known after its instance has closed and the answers have been forgotten', async () => {
  const short = await openInstance(serviceUrl)
  const settlement = sampleSettlement()
  await mustAppend(short, claimOf(settlement, { idempotencyKey: 'lost', leaseMs: 1 }).change)
  await short.close()
  await admin.query("begin; set local ledger.writing = 'on'; update ledger.keys set until = now(); commit")
  await ledger.forgetOldAnswers()
  const known = await ledger.payments.lookUp({ ...settlement, idempotencyKey: 'lost' })
  expect(known).toMatchObject({ payment: { phase: 'claimed', attempt: 1, settlement }, earlier: undefined })
})

test('I6: what a claim is bound to is read back as it was claimed', async () => {
  const evidence = sampleEvidence({ transactionBase64: undefined })
  const settlement = sampleSettlement({ memo: 'tollbook:abc', quoteId: undefined, evidence })
  await mustAppend(ledger, claimOf(settlement, { order: { digest: '5a'.repeat(32) } }).change)
  const { payment } = await instance(2).payments.lookUp({ ...settlement, idempotencyKey: undefined })
  expect(payment).toMatchObject({ phase: 'claimed', endpoint: settlement.price.endpoint, settlement })
  const claim = { wallet: settlement.wallet, orderDigest: '5a'.repeat(32) }
  expect(await claimsOf(settlement.reference)).toMatchObject([claim])
})
