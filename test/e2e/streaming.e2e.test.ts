import { connect } from 'node:net'
import { createLocalJWKSet, compactVerify } from 'jose'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sha256Hex } from '@tollbook/core/digest'
import { Fault } from '@tollbook/core/fault'
import { receiptBody } from '@tollbook/core/wire'
import { ask, askForQuote } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { readPaymentEvents } from '../support/paymentEvents.ts'
import { scriptedEndpoint, withEndpoint } from '../support/scriptedEndpoint.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { chunksOf, createGate, meta, openReply, type StreamReply, streams } from './streamedAnswer.ts'

const scripted = scriptedEndpoint()
const { path } = scripted.order
let service: TestService
/** An instance that waits 0.3 s for a provider and 0.35 s for a caller. */
let impatient: TestService
/** An instance whose ledger does not record deliveries. */
let forgetful: TestService
let admin: pg.Client

beforeAll(async () => {
  const seams = { endpoints: withEndpoint(scripted) }
  service = await openTestService({ seams })
  const env = { HANDLER_TIMEOUT_MS: '300' }
  impatient = await openTestService({ besides: service, seams, env })
  forgetful = await openTestService({
    besides: service,
    seams: {
      ...seams,
      ledger: (inner) => ({
        ...inner,
        append: (change) =>
          change.step === 'payment.fulfil'
            ? Promise.reject(new Fault('the database is gone', { retryable: true }))
            : inner.append(change),
      }),
    },
  })
  admin = new pg.Client({ connectionString: service.database.adminUrl })
  await admin.connect()
})
afterAll(() => admin.end())

interface Paid {
  readonly signature: string
  readonly order: { readonly path: string; readonly proof: string }
}

async function pay(): Promise<Paid> {
  const payment = await service.payer.sign(await askForQuote(service, scripted.order))
  await service.payer.send(payment)
  return { signature: payment.signature, order: { path, proof: Buffer.from(payment.signature).toString('base64') } }
}

async function kindsOf({ signature }: Paid): Promise<readonly string[]> {
  return (await readPaymentEvents(admin, signature)).map(({ kind }) => kind)
}

async function bodyOf({ signature }: Paid, kind: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  return (await readPaymentEvents(admin, signature)).find((event) => event.kind === kind)?.body
}

const claimed = ['PaymentVerified', 'TokensBurned', 'ProofClaimed']
const delivered = ['AnswerStarted', 'RequestFulfilled', 'DistributionAllocated']
const lastEvent = z.object({ receipt: receiptBody, inclusionProof: z.string(), meta: z.looseObject({}) })

/** The answer of the product, and the receipt that follows it as the last event. */
function readEvents(bytes: Buffer) {
  const [answer = '', event = ''] = bytes.toString('utf8').split('\n\nevent: receipt\ndata: ')
  return { answer, last: lastEvent.parse(JSON.parse(event)) }
}

describe('a streamed answer', () => {
  test('is claimed and started in the ledger before its first byte, and sealed with its digest at its end', async () => {
    const gate = createGate()
    const paid = await pay()
    scripted.script(
      streams(async function* () {
        await gate.opened
        yield* chunksOf('data: one\n\n', 'data: zwö\n\n')
      }),
    )
    const reply = openReply(service, paid.order)
    await awaitThat('the answer is started', async () => (await kindsOf(paid)).includes('AnswerStarted'))
    expect(await kindsOf(paid)).toEqual([...claimed, 'AnswerStarted'])
    gate.open()

    const { status, headers, bytes, isWhole } = await reply.ended
    expect({ status, isWhole }).toEqual({ status: 200, isWhole: true })
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'private, no-store',
      'x-answer-meta': JSON.stringify(meta, Object.keys(meta).sort()).replace('ü', String.raw`\u00fc`),
    })
    const { answer, last } = readEvents(bytes)
    expect(answer).toBe('data: one\n\ndata: zwö\n\n')
    expect(await kindsOf(paid)).toEqual([...claimed, ...delivered])
    expect(await bodyOf(paid, 'RequestFulfilled')).toMatchObject({ answerDigest: sha256Hex(answer) })
    expect(last).toMatchObject({ meta, receipt: { signature: paid.signature, wallet: service.payer.address } })
    expect(last.inclusionProof).toBe(`/api/ledger/inclusion/${last.receipt.ledger.position}`)
  })

  test('arrives chunk by chunk, and the receipt can be fetched again by its address', async () => {
    const gate = createGate()
    const paid = await pay()
    scripted.script(
      streams(async function* () {
        yield* chunksOf('data: one\n\n')
        await gate.opened
        yield* chunksOf('data: two\n\n')
      }),
    )
    const reply = openReply(service, paid.order)
    expect((await reply.firstBytes).toString()).toBe('data: one\n\n')
    gate.open()
    const { headers, bytes } = await reply.ended
    const location = String(headers['receipt-location'])
    const { receipt, inclusionProof } = readEvents(bytes).last
    expect(await ask(service, { path: location })).toMatchObject({
      status: 200,
      body: { success: true, data: { receipt, inclusionProof } },
    })
    expect(await ask(service, { path: `${location}x` })).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    expect((await ask(service, { path: location.replace(/\?.*/, '') })).status).toBe(400)
  })

  test('of another media type carries its receipt in a trailer', async () => {
    const paid = await pay()
    scripted.script(streams(() => chunksOf('{"n":1}\n', '{"n":2}\n'), 'application/x-ndjson'))
    const { bytes, headers, trailers, isWhole } = await openReply(service, paid.order).ended
    expect({ text: bytes.toString(), isWhole }).toEqual({ text: '{"n":1}\n{"n":2}\n', isWhole: true })
    expect(headers['trailer']).toBe('tollbook-receipt')
    const keys = z.object({ keys: z.array(z.record(z.string(), z.string())) })
    const jwks = keys.parse((await ask(service, { path: '/.well-known/jwks.json' })).body)
    const { payload } = await compactVerify(String(trailers['tollbook-receipt']), createLocalJWKSet(jwks))
    expect(JSON.parse(Buffer.from(payload).toString())).toMatchObject({ signature: paid.signature })
  })

  test('is refused to a second request while it is sent, and the payment is used afterwards', async () => {
    const gate = createGate()
    const paid = await pay()
    scripted.script(
      streams(async function* () {
        yield* chunksOf('data: one\n\n')
        await gate.opened
      }),
    )
    const reply = openReply(service, paid.order)
    await reply.firstBytes
    const { proof } = paid.order
    expect(await ask(service, { path, proof })).toMatchObject({ status: 409, body: { code: 'PAYMENT_IN_PROGRESS' } })
    gate.open()
    await reply.ended
    expect(await ask(service, { path, proof })).toMatchObject({ status: 402, body: { reason: 'already_used' } })
  })

  test('with an Idempotency-Key is replayed to the byte', async () => {
    const { order } = await pay()
    scripted.script(streams(() => chunksOf('data: one\n\n', 'data: two\n\n')))
    const request = { ...order, idempotencyKey: 'stream-1' }
    const first = await openReply(service, request).ended
    const replay = await openReply(impatient, request).ended
    expect(replay.headers).toMatchObject({
      'idempotent-replay': 'true',
      'x-answer-meta': first.headers['x-answer-meta'],
    })
    expect(replay.bytes.equals(first.bytes)).toBe(true)
  })
})

describe('a stream that breaks', () => {
  /** Its connection was torn down, the payment was released, and the same proof buys the next answer. */
  async function expectBroken(paid: Paid, reply: StreamReply): Promise<void> {
    expect(reply.isWhole).toBe(false)
    await awaitThat('the payment is released', async () => (await kindsOf(paid)).includes('AnswerBroken'))
    expect(await kindsOf(paid)).toEqual([...claimed, 'AnswerStarted', 'AnswerBroken'])
    expect(await ask(service, { path, proof: paid.order.proof })).toMatchObject({
      status: 200,
      body: { success: true },
    })
  }

  test('at the provider is torn down, and the ledger has its length and digest so far', async () => {
    const paid = await pay()
    scripted.script(
      streams(async function* () {
        yield* chunksOf('data: one\n\n', 'data: two\n\n')
        throw new Fault('the provider hung up', { retryable: true })
      }),
    )
    const reply = await openReply(service, paid.order).ended
    await expectBroken(paid, reply)
    const sent = 'data: one\n\ndata: two\n\n'
    expect(await bodyOf(paid, 'AnswerBroken')).toMatchObject({ bytes: sent.length, digest: sha256Hex(sent) })
  })

  test('because the provider is silent is torn down at the time limit, and the provider is told to stop', async () => {
    const paid = await pay()
    const stopped = createGate()
    scripted.script(
      streams(async function* ({ signal }) {
        yield* chunksOf('data: one\n\n')
        signal.addEventListener('abort', () => stopped.open())
        await new Promise<never>(() => undefined)
      }),
    )
    const reply = await openReply(impatient, paid.order).ended
    await stopped.opened
    await expectBroken(paid, reply)
  })

  test('because it is too long is torn down', async () => {
    const paid = await pay()
    const mebibyte = Buffer.alloc(1024 * 1024, '.')
    scripted.script(
      streams(async function* () {
        for (let sent = 0; sent <= 8; sent++) yield await Promise.resolve(mebibyte)
      }),
    )
    const reply = await openReply(service, paid.order).ended
    await expectBroken(paid, reply)
    expect(await bodyOf(paid, 'AnswerBroken')).toMatchObject({ bytes: 8 * mebibyte.length })
  })

  test('before its first chunk is torn down too', async () => {
    const paid = await pay()
    scripted.script(
      streams(() => ({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Fault('no connection', { retryable: true })) }),
      })),
    )
    await expectBroken(paid, await openReply(service, paid.order).ended)
  })

  test('at the ledger has no receipt, and its connection is torn down after the last byte', async () => {
    const paid = await pay()
    scripted.script(streams(() => chunksOf('data: one\n\n')))
    const reply = await openReply(forgetful, paid.order).ended
    expect(reply.bytes.toString()).not.toContain('event: receipt')
    await expectBroken(paid, reply)
  })
})

test('an answer that breaks on HTTP/1.0, which has no chunks, resets the connection', async () => {
  const { order } = await pay()
  scripted.script(
    streams(async function* () {
      yield* chunksOf('data: one\n\n')
      throw new Fault('the provider hung up', { retryable: true })
    }),
  )
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(service.baseUrl).port) })
  const headers = `x-wallet-address: ${service.payer.address}\r\nx-payment-proof: ${order.proof}\r\nhost: localhost`
  socket.write(`GET ${path} HTTP/1.0\r\n${headers}\r\n\r\n`)
  const ended = await new Promise((resolve) => {
    socket.on('error', ({ message }) => resolve(message))
    socket.on('end', () => resolve('a whole answer'))
    socket.resume()
  })
  expect(ended).toBe('read ECONNRESET')
})

test('a server that shuts down finishes the answer first', async () => {
  const gate = createGate()
  const { order } = await pay()
  const leaving = await openTestService({ besides: service, seams: { endpoints: withEndpoint(scripted) } })
  scripted.script(
    streams(async function* () {
      yield* chunksOf('data: one\n\n')
      await gate.opened
    }),
  )
  const reply = openReply(leaving, order)
  await reply.firstBytes
  const closed = leaving.close()
  gate.open()
  expect((await reply.ended).isWhole).toBe(true)
  await closed
})

describe('a caller who leaves', () => {
  test('has bought the answer: it is read to its end, sealed, and replayed for its Idempotency-Key', async () => {
    const gate = createGate()
    const paid = await pay()
    scripted.script(
      streams(async function* () {
        yield* chunksOf('data: one\n\n')
        await gate.opened
        yield* chunksOf('data: two\n\n')
      }),
    )
    const request = { ...paid.order, idempotencyKey: 'left-1' }
    const reply = openReply(service, request)
    await reply.firstBytes
    reply.leave()
    gate.open()
    await awaitThat('the answer is sealed', async () => (await kindsOf(paid)).includes('RequestFulfilled'))
    const whole = 'data: one\n\ndata: two\n\n'
    expect(await bodyOf(paid, 'RequestFulfilled')).toMatchObject({ answerDigest: sha256Hex(whole) })
    const replay = await openReply(service, request).ended
    expect(readEvents(replay.bytes).answer).toBe(whole)
    expect(replay.headers['idempotent-replay']).toBe('true')
    expect(await ask(service, { path, proof: paid.order.proof })).toMatchObject({ body: { reason: 'already_used' } })
  })

  test('keeps the payment when the provider breaks off afterwards', async () => {
    const gate = createGate()
    const paid = await pay()
    scripted.script(
      streams(async function* () {
        yield* chunksOf('data: one\n\n')
        await gate.opened
        throw new Fault('the provider hung up', { retryable: true })
      }),
    )
    const reply = openReply(service, paid.order)
    await reply.firstBytes
    reply.leave()
    gate.open()
    await awaitThat('the payment is released', async () => (await kindsOf(paid)).includes('AnswerBroken'))
    expect(await ask(service, { path, proof: paid.order.proof })).toMatchObject({ status: 200 })
  })
})

describe('a caller who reads slowly', () => {
  const block = Buffer.alloc(64 * 1024, '.')
  // 7.5 MiB: Linux may hold 4 MiB for a sender, and an answer may have 8.
  const blocks = 120

  /** Counts the blocks that were asked of the provider. */
  function counted(asked: { count: number }) {
    return streams(async function* () {
      for (asked.count = 0; asked.count < blocks; asked.count++) yield await Promise.resolve(block)
    }, 'application/octet-stream')
  }

  test('holds the provider back, and gets all of it in the end', async () => {
    const paid = await pay()
    const asked = { count: 0 }
    scripted.script(counted(asked))
    const reply = openReply(service, paid.order)
    reply.pause()
    // The sockets of both sides hold a few blocks; the rest is not asked for while the caller does not read.
    await awaitThat('the provider is held back', async () => {
      const before = asked.count
      for (let round = 0; round < 5; round++) await ask(service, { path: '/livez' })
      return before > 0 && asked.count === before
    })
    expect(asked.count).toBeLessThan(blocks)
    reply.resume()
    const { bytes, isWhole } = await reply.ended
    expect({ length: bytes.length, isWhole }).toEqual({ length: blocks * block.length, isWhole: true })
    expect(await kindsOf(paid)).toEqual([...claimed, ...delivered])
  })

  test('is left behind when the time is up: the connection is reset, and the answer is sealed without it', async () => {
    const paid = await pay()
    const asked = { count: 0 }
    scripted.script(counted(asked))
    const reply = openReply(impatient, paid.order)
    reply.pause()
    await awaitThat('the answer is sealed', async () => (await kindsOf(paid)).includes('RequestFulfilled'))
    expect(asked.count).toBe(blocks)
    reply.resume()
    expect((await reply.ended).isWhole).toBe(false)
  })
})
