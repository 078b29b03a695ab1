import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import type { Outcome } from '../../src/product/product.ts'
import { quoteBody } from '@tollbook/core/wire'
import { ask, askForQuote, qrOrder } from '../support/ask.ts'
import { scriptedEndpoint, withEndpoint } from '../support/scriptedEndpoint.ts'
import { shiftedClock } from '../support/shiftedClock.ts'
import { openTestService, type TestService } from '../support/testService.ts'

const scripted = scriptedEndpoint()
const clock = shiftedClock()
const { order } = scripted
// Real time for a second request while a handler runs, also on a slow machine.
const handlerTimeoutMs = 10_000
let service: TestService
let admin: pg.Client

beforeAll(async () => {
  service = await openTestService({
    clock,
    seams: { endpoints: withEndpoint(scripted) },
    env: { HANDLER_TIMEOUT_MS: `${handlerTimeoutMs}` },
  })
  admin = new pg.Client({ connectionString: service.database.adminUrl })
  await admin.connect()
})
afterAll(() => admin.end())

async function paidProof(): Promise<string> {
  return service.payer.pay(await askForQuote(service, order))
}

const failed = (code: Extract<Outcome, { kind: 'failed' }>['code']) => () =>
  Promise.resolve<Outcome>({ kind: 'failed', code, message: 'scripted' })
/** Until its time is up. */
const never = () => {
  clock.advance(handlerTimeoutMs)
  return new Promise<never>(() => undefined)
}

describe('I4 a handler that fails leaves the proof good', () => {
  test.each([
    ['NO_DATA', 404, failed('NO_DATA')],
    ['UPSTREAM_FAILED', 502, failed('UPSTREAM_FAILED')],
    ['UPSTREAM_TIMEOUT', 504, failed('UPSTREAM_TIMEOUT')],
    ['TARGET_FORBIDDEN', 403, failed('TARGET_FORBIDDEN')],
    ['UPSTREAM_FAILED', 502, () => Promise.reject(new Fault('provider is down', { retryable: true }))],
    ['INTERNAL_ERROR', 500, () => Promise.reject(new TypeError('a bug of ours'))],
    ['UPSTREAM_TIMEOUT', 504, never],
  ])('%s is %i, and the same proof then buys the answer', async (code, status, step) => {
    const proof = await paidProof()
    scripted.script(step)
    const failure = await ask(service, { ...order, proof })
    expect(failure).toMatchObject({ status, body: { code } })
    expect(JSON.stringify(failure.body)).not.toContain('a bug of ours')

    const success = await ask(service, { ...order, proof })
    expect(success).toMatchObject({ status: 200, body: { data: { answer: 42 } } })
    const { rows } = await admin.query(
      `select array_agg(kind order by seq) as kinds,
         max((convert_from(body, 'UTF8')::jsonb ->> 'attempt')::integer) as attempts
       from ledger.events
       where stream = (select max(stream) from ledger.events where kind = 'PaymentVerified')`,
    )
    expect(rows[0]).toEqual({
      kinds: [
        'PaymentVerified',
        'TokensBurned',
        'ProofClaimed',
        'RequestFailed',
        'ProofClaimed',
        'RequestFulfilled',
        'DistributionAllocated',
      ],
      attempts: 2,
    })
  })

  test('I17 the entries of failed and fulfilled attempts sum to zero, and nothing stays owed', async () => {
    const { rows } = await admin.query(
      "select coalesce(sum(amount), 0) as sum from ledger.entries union all select balance from ledger.accounts where name = 'Liabilities:Unearned'",
    )
    expect(rows).toEqual([{ sum: '0' }, { sum: '0' }])
  })

  test('for other parameters of the same endpoint too', async () => {
    const proof = await paidProof()
    scripted.script(failed('NO_DATA'))
    expect((await ask(service, { ...order, proof })).status).toBe(404)
    expect((await ask(service, { path: '/api/data/crypto?symbol=ETH', proof })).status).toBe(200)
  })

  test('I6 but not for another endpoint', async () => {
    const proof = await paidProof()
    scripted.script(failed('NO_DATA'))
    expect((await ask(service, { ...order, proof })).status).toBe(404)
    expect(await ask(service, { ...qrOrder, proof })).toMatchObject({ status: 402, body: { reason: 'other_endpoint' } })
  })
})

describe('while an attempt runs', () => {
  test('I3 the same proof is told to wait, and the handler runs once', async () => {
    const proof = await paidProof()
    const gate = Promise.withResolvers<Outcome>()
    const started = Promise.withResolvers<void>()
    scripted.script(() => {
      started.resolve()
      return gate.promise
    })
    const runsBefore = scripted.runs()
    const first = ask(service, { ...order, proof })
    await started.promise
    const second = await ask(service, { ...order, proof })
    expect(second).toMatchObject({ status: 409, body: { code: 'PAYMENT_IN_PROGRESS' } })
    expect(second.headers.get('retry-after'), 'at most five of the sixty seconds of the lease').toBe('5')
    gate.resolve({ kind: 'delivered', data: {}, meta: { source: 'test', asOf: '', cached: false } })
    expect((await first).status).toBe(200)
    expect(scripted.runs() - runsBefore).toBe(1)
  })
})

describe('theft', () => {
  test('a payment presented with another wallet buys nothing, and stays valid for its own', async () => {
    const proof = await paidProof()
    const thief = await ask(service, { ...order, proof, wallet: 'A49WZKxeih54nXzPtAez9tQmdAveq7jtxk1EtcW85seq' })
    expect(thief).toMatchObject({ status: 402, body: { reason: 'wallet_did_not_sign' } })
    expect((await ask(service, { ...order, proof })).status).toBe(200)
  })

  test('a bound payment seen on chain is worth nothing to any caller without its secret', async () => {
    const quote = await askForQuote(service, order)
    const payment = await service.payer.sign(quote, { bound: true })
    await service.payer.send(payment)
    const bare = Buffer.from(payment.signature).toString('base64')
    const wrong = Buffer.from(
      JSON.stringify({ signature: payment.signature, secret: 'AAAAAAAAAAAAAAAAAAAAAA' }),
    ).toString('base64')
    expect(await ask(service, { ...order, proof: bare })).toMatchObject({
      status: 402,
      body: { reason: 'secret_required' },
    })
    expect(await ask(service, { ...order, proof: wrong })).toMatchObject({
      status: 402,
      body: { reason: 'secret_mismatch' },
    })
    const right = Buffer.from(JSON.stringify({ signature: payment.signature, secret: payment.secret })).toString(
      'base64',
    )
    expect((await ask(service, { ...order, proof: right })).status).toBe(200)
    // The stored answer is for the holder of the secret, too.
    expect(await ask(service, { ...order, proof: bare })).toMatchObject({
      status: 402,
      body: { reason: 'secret_required' },
    })
  })
})

describe('a payment that does not pay', () => {
  test('one base unit short is refused, and an unsent one is not even sent', async () => {
    const quote = quoteBody.parse((await ask(service, order)).body)
    const short = await service.payer.sign(quote, { shortBy: 1n })
    service.chain.forgetRequestCounts()
    const unsent = Buffer.from(short.bytes).toString('base64')
    expect(await ask(service, { ...order, proof: unsent })).toMatchObject({
      status: 402,
      body: { reason: 'transfer_insufficient' },
    })
    expect(service.chain.requestCounts().get('sendTransaction') ?? 0).toBe(0)
    await service.payer.send(short)
    const landed = Buffer.from(short.signature).toString('base64')
    expect(await ask(service, { ...order, proof: landed })).toMatchObject({
      status: 402,
      body: { reason: 'transfer_insufficient' },
    })
  })

  test('that was never sent is not found, with the advice to keep the proof', async () => {
    const payment = await service.payer.sign(await askForQuote(service, order))
    const proof = Buffer.from(payment.signature).toString('base64')
    const reply = await ask(service, { ...order, proof })
    expect(reply).toMatchObject({ status: 402, body: { code: 'INVALID_PAYMENT', reason: 'not_found' } })
    expect(reply.headers.get('retry-after')).toBe('2')
    await service.payer.send(payment)
    // That nothing was found is remembered for a slot, which the advice is longer than.
    clock.advance(2000)
    expect((await ask(service, { ...order, proof })).status).toBe(200)
  })

  test('from a wallet that could not pay says so', async () => {
    const proof = Buffer.from(new Uint8Array(64).fill(5)).toString('base64')
    const reply = await ask(service, { ...order, proof, wallet: 'A49WZKxeih54nXzPtAez9tQmdAveq7jtxk1EtcW85seq' })
    expect(reply).toMatchObject({ status: 402, body: { code: 'INSUFFICIENT_BALANCE' } })
  })
})
