import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sha256Hex } from '@tollbook/core/digest'
import { Fault } from '@tollbook/core/fault'
import { readReceiptHeader } from '@tollbook/client/receiptHeader'
import { verifyReceipt } from '@tollbook/client/verifyReceipt'
import type { PaymentLedger } from '../../src/payment/paymentLedger.ts'
import type { Raw } from '../../src/product/product.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { readPaymentEvents } from '../support/paymentEvents.ts'
import { scriptedEndpoint, withEndpoint } from '../support/scriptedEndpoint.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { meta, openReply } from './streamedAnswer.ts'

/* Whole answers of any content type: they are committed before they are sent, and their headers are complete. */

const scripted = scriptedEndpoint()
const { path } = scripted.order
const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256))
const raw: Raw = { kind: 'raw', contentType: 'image/png', bytes, headers: { etag: '"1"', 'set-cookie': 'a=b' }, meta }
let losesFulfilment = false

function lossy(inner: PaymentLedger): PaymentLedger {
  return {
    ...inner,
    async append(change) {
      const outcome = await inner.append(change)
      if (!losesFulfilment || change.step !== 'payment.fulfil') return outcome
      losesFulfilment = false
      throw new Fault('the ledger did not say whether it took the append', { retryable: true })
    },
  }
}

let service: TestService
let admin: pg.Client

beforeAll(async () => {
  service = await openTestService({ seams: { endpoints: withEndpoint(scripted), ledger: lossy } })
  admin = new pg.Client({ connectionString: service.database.adminUrl })
  await admin.connect()
})
afterAll(() => admin.end())

async function pay() {
  const payment = await service.payer.sign(await askForQuote(service, scripted.order))
  await service.payer.send(payment)
  return { ...payment, proof: Buffer.from(payment.signature).toString('base64') }
}

test('is sent as it is, with its length, its receipt in a header, and its digest in the ledger', async () => {
  const { signature, proof } = await pay()
  scripted.script(() => Promise.resolve(raw))
  const { status, headers, bytes: received } = await openReply(service, { path, proof }).ended
  expect({ status, isSame: received.equals(bytes) }).toEqual({ status: 200, isSame: true })
  expect(headers).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(bytes.length),
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
    etag: '"1"',
  })
  expect(headers).not.toHaveProperty('set-cookie')
  const events = await readPaymentEvents(admin, signature)
  const fulfilled = events.find(({ kind }) => kind === 'RequestFulfilled')
  expect(fulfilled?.body).toMatchObject({ answerDigest: sha256Hex(bytes) })
  expect(events.map(({ kind }) => kind)).not.toContain('AnswerStarted')

  const receipt = readReceiptHeader(new Headers({ 'tollbook-receipt': String(headers['tollbook-receipt']) }))
  const keys = (await ask(service, { path: '/.well-known/jwks.json' })).body
  const expected = { wallet: service.payer.address, endpoint: '/api/data/crypto' }
  expect(await verifyReceipt({ receipt, keys, expected })).toMatchObject({ valid: true, receipt: { signature } })
  const found = await ask(service, { path: String(headers['receipt-location']) })
  expect(found.body).toMatchObject({ data: { receipt } })
})

test('that was recorded and not sent is sent to the next request, with the same bytes and headers', async () => {
  const { proof } = await pay()
  scripted.script(() => Promise.resolve(raw))
  losesFulfilment = true
  expect(await ask(service, { path, proof })).toMatchObject({ status: 503, body: { code: 'PAYMENT_PENDING' } })
  const runs = scripted.runs()
  const replay = await openReply(service, { path, proof }).ended
  expect(replay.bytes.equals(bytes)).toBe(true)
  expect(replay.headers).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(bytes.length),
    etag: '"1"',
    'idempotent-replay': 'true',
    'tollbook-receipt': expect.any(String),
    'receipt-location': expect.stringContaining('attempt='),
  })
  expect(scripted.runs()).toBe(runs)
})

test('is not sold if it is too long or cannot be sent, and the same proof buys the next one', async () => {
  const { proof } = await pay()
  scripted.script(
    () => Promise.resolve({ ...raw, bytes: Buffer.alloc(8 * 1024 * 1024 + 1) }),
    () => Promise.resolve({ ...raw, headers: { etag: 'a\r\nb: c' } }),
    () => Promise.resolve(raw),
  )
  expect(await ask(service, { path, proof })).toMatchObject({ status: 502, body: { code: 'UPSTREAM_FAILED' } })
  expect(await ask(service, { path, proof })).toMatchObject({ status: 500, body: { code: 'INTERNAL_ERROR' } })
  expect((await openReply(service, { path, proof }).ended).bytes.equals(bytes)).toBe(true)
})

test('is never sold to HEAD', async () => {
  const { proof } = await pay()
  const headers = { 'x-wallet-address': service.payer.address, 'x-payment-proof': proof }
  const response = await fetch(`${service.baseUrl}${path}`, { method: 'HEAD', headers })
  expect(response.status).toBe(405)
  scripted.script(() => Promise.resolve(raw))
  expect((await openReply(service, { path, proof }).ended).status).toBe(200)
})
