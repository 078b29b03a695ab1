import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { sha256Hex } from '@tollbook/core/digest'
import { Fault } from '@tollbook/core/fault'
import { isRefusal } from '@tollbook/core/refusal'
import { tabIdOf } from '@tollbook/core/tab'
import { silentLog } from '../../src/machine/log.ts'
import { claimPayment, fulfil } from '../../src/paywall/claim.ts'
import { readStoredRaw, wholeAnswer } from '../../src/paywall/rawFormat.ts'
import { createStreamReader } from '../../src/paywall/runHandler.ts'
import { startStream } from '../../src/paywall/streamAnswer.ts'
import { evolve, unknownPayment } from '../../src/payment/payment.ts'
import { tabRequestReference } from '../../src/payment/paymentReference.ts'
import type { AppendOutcome, PaymentChange } from '../../src/payment/paymentLedger.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { split } from '../../src/pricing/split.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import type { Usage } from '../../src/pricing/meteredPrice.ts'
import type { Raw, Value } from '../../src/product/product.ts'
import { heldClock } from '../jobs/jobFixture.ts'
import { order, referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { sampleReceipt } from './sampleReceipt.ts'
import { scriptedRail } from './scriptedRail.ts'
import { unused, unusedLedger } from './unusedLedger.ts'

/* Claims that end: an answer at once, or a stream. `changes` lists the appends after the claim. */

const plain = settlementOf(referenceNumber(1))
const meta = { source: 'test', asOf: '2026-11-22T00:00:00.000Z', cached: false }
const tab = tabIdOf(new Uint8Array(16).fill(1))
const debited: Settlement = {
  ...plain,
  reference: tabRequestReference(tab, 1n),
  priceList: 3,
  quoteId: undefined,
  burnedBaseUnits: 0n,
  receivedBaseUnits: plain.price.requiredBaseUnits,
  debit: {
    tab,
    number: 1n,
    deposit: referenceNumber(2),
    signed: undefined,
    bearerHash: 'ab'.repeat(32),
    lifecycle: 0,
    orderDigest: order.digest,
  },
}
// A unit of output costs one micro-dollar: 250 units are a twentieth of the price of the story.
const { endpoint } = order
const byUse = { endpoint, inputPerMillionMicroUsd: 0n, outputPerMillionMicroUsd: 1_000_000n, minimumMicroUsd: 1n }
const used: Usage = { input: 0, output: 250, isEstimated: false }

async function claimed(settlement: Settlement, outcomes: readonly ('appended' | 'conflict')[] = []) {
  const changes: PaymentChange[] = []
  const append = async (change: PaymentChange): Promise<AppendOutcome> => {
    changes.push(change)
    if (outcomes[changes.length - 2] === 'conflict') return { outcome: 'conflict' }
    const after = change.events.reduce((state, event) => evolve(state, event, change.nowMs), change.before)
    const leaves = change.events.map((_, index) => ({ position: index + 1, leafHash: 'ab'.repeat(32) }))
    return { outcome: 'appended', after, recordedAtMs: change.nowMs, leaves, tabBalanceBaseUnits: 77n }
  }
  const deps = {
    clock: heldClock,
    log: silentLog,
    ledger: { ...unusedLedger, lookUp: () => Promise.reject(new Error('not looked up')), append },
    leaseMs: 60_000,
    handlerTimeoutMs: 30_000,
    attemptsMax: 10,
    rail: scriptedRail('toll'),
    signReceipt: async () => sampleReceipt(),
    listNumber: async () => ({
      kind: 'PriceListPublished' as const,
      source: 'fixed',
      split: defaultSplit,
      prices: [plain.price],
      metered: [byUse],
    }),
  }
  const claim = await claimPayment(deps, { order, settlement, payment: unknownPayment, idempotencyKey: 'key' })
  assert(!isRefusal(claim), 'a first claim is granted')
  return { deps, claim, changes }
}

const value: Value = { kind: 'delivered', data: { text: 'é' }, meta }

async function deliver(
  { deps, claim }: Pick<Awaited<ReturnType<typeof claimed>>, 'deps' | 'claim'>,
  sold: Value | Raw,
) {
  const answer = wholeAnswer(sold)
  assert(answer.kind === 'whole', 'it can be stored')
  const fulfilment = await fulfil(deps, claim, answer)
  assert(!isRefusal(fulfilment), 'it is delivered')
  return { ...answer, fulfilment }
}

test('an answer is stored with the digest of its text, under the key of its request', async () => {
  const { deps, claim, changes } = await claimed(plain)
  const sale = await deliver({ deps, claim }, value)
  expect(JSON.parse(sale.answerJson)).toEqual({ data: value.data, meta })
  expect(sale.fulfilment).toMatchObject({ position: 1, tabBalanceBaseUnits: 77n, endpoint, attemptId: claim.attemptId })
  expect(changes[1]).toMatchObject({
    step: 'payment.fulfil',
    answerJson: sale.answerJson,
    idempotency: { wallet: order.wallet, key: 'key', orderDigest: order.digest },
    events: [{ answerDigest: sha256Hex(sale.answerJson), orderDigest: order.digest }, {}],
  })
})

test('a raw answer has the digest of its bytes, and is stored with its headers', async () => {
  const { deps, claim, changes } = await claimed(plain)
  const raw: Raw = { kind: 'raw', contentType: 'image/png', bytes: Buffer.from([1, 2]), headers: { etag: '"1"' }, meta }
  const sale = await deliver({ deps, claim }, raw)
  expect([sale.raw, changes[1]?.events[0]]).toMatchObject([raw, { answerDigest: sha256Hex(raw.bytes) }])
  expect(readStoredRaw(sale.answerJson)).toMatchObject({ headers: raw.headers, contentType: 'image/png' })
})

test('the bounds of a deposit are checked by the ledger with its delivery', async () => {
  const shares = [{ account: 'prepaid', baseUnits: plain.price.requiredBaseUnits }]
  const price = { ...plain.price, burnBaseUnits: 0n, shares }
  const received = { receivedBaseUnits: price.requiredBaseUnits, burnedBaseUnits: 0n, memo: 'tollbook:x' }
  const { deps, claim, changes } = await claimed({ ...plain, price, ...received })
  const limits = { tabMaxBaseUnits: 5n, totalMaxBaseUnits: 9n }
  const deposit = Object.assign({ tab }, { limits })
  await deliver({ deps, claim }, { ...value, deposit: Object.assign(Object.create(null), deposit) })
  expect(changes[1]).toMatchObject({ limits, events: [{}, { kind: 'TabToppedUp', tab }] })
})

test('a debit by use is charged for its use by the list that was read for its claim, also in the receipt', async () => {
  const { deps, claim, changes } = await claimed(debited)
  const sale = await deliver({ deps: { ...deps, listNumber: unused }, claim }, { ...value, usage: used })
  expect(sale.fulfilment.settlement).toMatchObject({
    usage: used,
    price: { requiredBaseUnits: 250_000n, ...split(250_000n, defaultSplit) },
  })
  expect(changes[1]?.events[0]).toMatchObject({ kind: 'TabCaptured' })
})

interface Streamed {
  readonly settlement?: Settlement
  readonly parts?: readonly string[]
  readonly storedBytesMax?: number
  readonly fails?: boolean
  readonly outcomes?: readonly ('appended' | 'conflict')[]
}

async function stream({ settlement = plain, parts = ['one', 'two', 'three'], ...given }: Streamed = {}) {
  const { deps, claim, changes } = await claimed(settlement, given.outcomes)
  let aborts = 0
  let sent = 0
  async function* chunks() {
    for (const part of parts) {
      sent++
      yield Buffer.from(part)
    }
    if (given.fails === true) throw new Fault('the provider broke off', { retryable: false })
  }
  const bounds = { bytesMax: 100, timeMaxMs: 1_000, storedBytesMax: given.storedBytesMax ?? 100 }
  const clock = { ...heldClock, sleep: () => new Promise<void>(() => undefined) }
  const reader = createStreamReader(clock, { chunks: chunks(), abort: () => void aborts++ }, bounds)
  const source = { kind: 'stream', contentType: 'text/plain', meta, reader, usageSoFar: () => used } as const
  const answer = await startStream(deps, claim, source)
  assert('chunks' in answer, 'the stream has started')
  return { answer, changes, aborts: () => aborts, sent: () => sent }
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = []
  for await (const chunk of chunks) read.push(chunk)
  return Buffer.concat(read).toString('utf8')
}

test('a whole stream is recorded and stored, then its receipt is known', async () => {
  const { answer, changes } = await stream()
  expect([answer.trailers(), answer.dispatch()]).toEqual([{}, undefined])
  expect(await readAll(answer.chunks)).toBe('onetwothree')
  const answerDigest = createHash('sha256').update('onetwothree').digest('hex')
  expect(changes.map(({ step }) => step)).toEqual(['payment.claim', 'payment.start', 'payment.fulfil'])
  expect(changes[2]?.events[0]).toMatchObject({ answerDigest })
  expect(Buffer.from(readStoredRaw(changes[2]?.answerJson ?? '')?.bytes ?? []).toString()).toBe('onetwothree')
  expect(answer.trailers()).toEqual({ 'tollbook-receipt': sampleReceipt().jws })
  expect(answer.dispatch()).toMatchObject({ isReplay: false, reference: plain.reference })
})

test('a stream that is too long to store is delivered without a stored answer', async () => {
  const { answer, changes } = await stream({ storedBytesMax: 5 })
  expect(await readAll(answer.chunks)).toBe('onetwothree')
  expect(changes[2]).toMatchObject({ step: 'payment.fulfil' })
  expect(changes[2]).not.toHaveProperty('answerJson')
})

async function leaveAfterFirst(chunks: AsyncIterable<Uint8Array>) {
  for await (const chunk of chunks) return Buffer.from(chunk).toString('utf8')
  return undefined
}

test('after the caller has left, a stream of a fixed price is read to its end and recorded', async () => {
  const { answer, changes, sent, aborts } = await stream()
  expect(await leaveAfterFirst(answer.chunks)).toBe('one')
  expect([sent(), aborts(), changes[2]?.step]).toEqual([3, 0, 'payment.fulfil'])
})

test('a stream by use ends where its caller has left, and is charged for its use', async () => {
  const left = await stream({ settlement: debited })
  await leaveAfterFirst(left.answer.chunks)
  expect([left.sent(), left.aborts()]).toEqual([1, 1])
  expect(left.changes[2]?.events[0]).toMatchObject({ kind: 'TabCaptured', usage: used })
  const whole = await stream({ settlement: debited })
  await readAll(whole.answer.chunks)
  expect([whole.sent(), whole.aborts()]).toEqual([3, 0])
})

test('a stream that its provider breaks off releases the payment with what was sent', async () => {
  const { answer, changes, aborts } = await stream({ fails: true })
  await expect(readAll(answer.chunks)).rejects.toThrow('broke off')
  expect(changes[2]?.events[0]).toMatchObject({ kind: 'AnswerBroken', bytes: 11 })
  expect([aborts(), answer.dispatch(), answer.trailers()]).toEqual([1, undefined, {}])
})

test('a stream that another attempt has overtaken breaks, so that no caller takes it for paid', async () => {
  const { answer } = await stream({ outcomes: ['appended', 'conflict'] })
  await expect(readAll(answer.chunks)).rejects.toThrow('took over')
  expect(answer.dispatch()).toBeUndefined()
})
