import { beforeAll, describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/product/product.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { scriptedEndpoint, withEndpoint } from '../support/scriptedEndpoint.ts'
import { openTestService, type TestService } from '../support/testService.ts'

const scripted = scriptedEndpoint()
const { order } = scripted
let service: TestService
let another: TestService

beforeAll(async () => {
  service = await openTestService({ seams: { endpoints: withEndpoint(scripted) } })
  another = await openTestService({ besides: service, seams: { endpoints: withEndpoint(scripted) } })
})

/** Another instance may send the same answer again for a moment, until it knows that the answer was sent. */
const isReplay = (headers: Headers) => headers.get('idempotent-replay') === 'true'

async function paidProof(form: 'signature' | 'transaction' | 'boundSignature' = 'signature'): Promise<string> {
  return service.payer.pay(await askForQuote(service, order), form)
}

describe('Idempotency-Key', () => {
  test('gives the stored answer and the same receipt again, from any instance, without running the handler', async () => {
    const proof = await paidProof()
    const request = { ...order, proof, idempotencyKey: 'key-1' }
    const first = await ask(service, request)
    const runs = scripted.runs()
    const replay = await ask(another, request)
    expect(first.status).toBe(200)
    expect(first.headers.get('idempotent-replay')).toBeNull()
    expect(replay.status).toBe(200)
    expect(replay.headers.get('idempotent-replay')).toBe('true')
    expect(replay.body).toEqual(first.body)
    expect(scripted.runs()).toBe(runs)
  })

  test('does not prevent a transaction that the service sends itself', async () => {
    const proof = await paidProof('transaction')
    expect((await ask(service, { ...order, proof, idempotencyKey: 'key-sent' })).status).toBe(200)
  })

  test('opens nothing by itself: without its proof it is a new quote, with another proof it is refused', async () => {
    const proof = await paidProof()
    await ask(service, { ...order, proof, idempotencyKey: 'key-2' })
    expect((await ask(service, { ...order, idempotencyKey: 'key-2' })).status).toBe(402)
    const otherProof = await paidProof()
    const reused = await ask(service, { ...order, proof: otherProof, idempotencyKey: 'key-2' })
    expect(reused).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    expect((await ask(service, { ...order, proof: otherProof, idempotencyKey: 'key-3' })).status).toBe(200)
  })

  test('with another request is refused, and the answer stays where it is', async () => {
    const proof = await paidProof()
    await ask(service, { ...order, proof, idempotencyKey: 'key-4' })
    const other = await ask(service, { path: '/api/data/crypto?symbol=ETH', proof, idempotencyKey: 'key-4' })
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    expect((await ask(service, { ...order, proof, idempotencyKey: 'key-4' })).status).toBe(200)
  })

  test('does not replace the secret of a bound payment', async () => {
    const proof = await paidProof('boundSignature')
    await ask(service, { ...order, proof, idempotencyKey: 'key-5' })
    const { signature } = JSON.parse(Buffer.from(proof, 'base64').toString('utf8'))
    const bare = Buffer.from(signature).toString('base64')
    expect(await ask(service, { ...order, proof: bare, idempotencyKey: 'key-5' })).toMatchObject({
      status: 402,
      body: { reason: 'secret_required' },
    })
    expect((await ask(service, { ...order, proof, idempotencyKey: 'key-5' })).headers.get('idempotent-replay')).toBe(
      'true',
    )
  })

  test('does not turn a failure into an answer', async () => {
    const proof = await paidProof()
    scripted.script(() => Promise.resolve<Outcome>({ kind: 'failed', code: 'NO_DATA', message: 'nothing yet' }))
    expect((await ask(service, { ...order, proof, idempotencyKey: 'key-6' })).status).toBe(404)
    const retry = await ask(service, { ...order, proof, idempotencyKey: 'key-6' })
    expect(retry.status).toBe(200)
    expect(retry.headers.get('idempotent-replay')).toBeNull()
  })

  test('that was not sent the first time does not help afterwards', async () => {
    const proof = await paidProof()
    expect((await ask(service, { ...order, proof })).status).toBe(200)
    expect(await ask(service, { ...order, proof, idempotencyKey: 'key-7' })).toMatchObject({
      status: 402,
      body: { reason: 'already_used' },
    })
  })

  test.each(['', ' ', 'a'.repeat(256), 'a b'])('%j is refused or ignored before anything is spent', async (key) => {
    const reply = await ask(service, { ...order, headers: { 'idempotency-key': key } })
    expect([400, 402]).toContain(reply.status)
    if (reply.status === 400) expect(reply.body).toMatchObject({ details: [{ field: 'idempotency-key' }] })
  })
})

describe('I1 one payment at two instances at once', () => {
  test('is served by one of them, and the other says in progress or used', async () => {
    const proof = await paidProof()
    const runs = scripted.runs()
    const replies = await Promise.all(
      Array.from({ length: 24 }, (_, index) => ask(index % 2 === 0 ? service : another, { ...order, proof })),
    )
    const statuses = replies.map(({ status }) => status)
    expect(replies.filter(({ status, headers }) => status === 200 && !isReplay(headers))).toHaveLength(1)
    expect(statuses.every((status) => [200, 402, 409].includes(status))).toBe(true)
    expect(scripted.runs() - runs).toBe(1)
  })
})

describe('I1 one unsent transaction at two instances at once', () => {
  test('is sent once, served once, and no caller gets a 5xx', async () => {
    const proof = await service.payer.pay(await askForQuote(service, order), 'boundTransaction')
    const runs = scripted.runs()
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, index) => ask(index % 2 === 0 ? service : another, { ...order, proof })),
    )
    const statuses = replies.map(({ status }) => status)
    expect(replies.filter(({ status, headers }) => status === 200 && !isReplay(headers))).toHaveLength(1)
    expect(statuses.filter((status) => ![200, 402, 409].includes(status))).toEqual([])
    expect(scripted.runs() - runs).toBe(1)
  })
})

describe('one key and one proof, sent twice at once', () => {
  test('both get the answer in the end, and one of them was the replay', async () => {
    const request = {
      ...order,
      proof: await service.payer.pay(await askForQuote(service, order)),
      idempotencyKey: 'twice-1',
    }
    const served = (instance: TestService) =>
      awaitThat('it is no longer in progress', async () => {
        const reply = await ask(instance, request)
        return reply.status !== 409 && reply
      })
    const replies = await Promise.all([service, another, service, another, service, another].map(served))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    expect(replies.filter(({ headers }) => headers.get('idempotent-replay') === null)).toHaveLength(1)
  })
})
