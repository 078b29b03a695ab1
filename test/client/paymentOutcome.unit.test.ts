import { expect, test } from 'vitest'
import { utf8Bytes } from '@tollbook/core/bytes'
import { invalidPaymentReasons } from '@tollbook/core/refusal'
import { openPaymentFolder } from '@tollbook/client/node'
import { judgeAnswer } from '@tollbook/client/judgeAnswer'
import { PaymentRefused, PaymentUnresolved, PaymentUnspent } from '@tollbook/client/paymentError'
import { readPendingPayment } from '@tollbook/client/pendingPayment'
import { defaultRetryLimits, presentPayment } from '@tollbook/client/presentPayment'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openScene, rejectionOf } from './support/payerScene.ts'
import { readPresentedProof } from './support/presentedProof.ts'
import type { Step } from './support/scriptedService.ts'

const crypto = '/api/data/crypto?symbol=BTC'
const refusal = (status: number, code: string, more: object = {}): Step => {
  return { status, body: { error: 'no', code, ...more } }
}

const finalReasons = Object.keys(invalidPaymentReasons).filter((reason) => reason !== 'not_found')

test('a final refusal carries reason, signature and proof, and nothing is paid again', async () => {
  for (const reason of [...finalReasons, 'a_reason_of_the_future']) {
    const { payingFetch, service, wallet, proofs, url } = await openScene()
    service.script = [refusal(402, 'INVALID_PAYMENT', { reason })]
    const error = await rejectionOf(payingFetch(url(crypto)))
    if (!(error instanceof PaymentRefused)) throw new Error(`${reason}: ${String(error)}`)
    expect(error.reason).toBe(reason)
    expect(error.payment.proof).toBe(proofs()[0])
    expect(error.payment.signature).toBe(readPresentedProof(error.payment.proof).signature)
    expect(error.lastAnswer).toMatchObject({ status: 402, code: 'INVALID_PAYMENT', body: { error: 'no', reason } })
    expect([wallet.signed, service.unpaid.length, service.presented.length]).toEqual([1, 1, 1])
  }
})

test('a wallet without enough tokens is refused once, and the transaction it signed is in the error', async () => {
  const { payingFetch, service, wallet, url } = await openScene()
  service.script = [refusal(402, 'INSUFFICIENT_BALANCE')]
  const error = await rejectionOf(payingFetch(url(crypto)))
  expect(error).toBeInstanceOf(PaymentRefused)
  expect(error).toMatchObject({ reason: 'INSUFFICIENT_BALANCE' })
  expect(wallet.signed).toBe(1)
})

test('when all tries are used up the outcome is open, and resuming presents the same proof under the same key', async () => {
  const { payingFetch, service, wallet, proofs, keys, url } = await openScene({ retry: { attemptsMax: 4 } })
  service.script = ['reset', 'reset', 'reset', 'reset']
  const error = await rejectionOf(payingFetch(url(crypto)))
  if (!(error instanceof PaymentUnresolved)) throw error
  expect(service.presented).toHaveLength(4)
  const stored = readPendingPayment(JSON.stringify(error.payment))
  if (stored === undefined) throw new Error('the payment did not survive being written down')
  const response = await payingFetch.resume(stored)
  expect(await response.json()).toMatchObject({ data: { ok: crypto } })
  expect([proofs().length, keys().length, wallet.signed, service.unpaid.length]).toEqual([1, 1, 1, 1])
})

test('the total time bounds the tries, and a Retry-After beyond it is not waited for', async () => {
  const { payingFetch, service, clock, url } = await openScene({ retry: { totalTimeMs: 30_000 } })
  service.script = [{ status: 503, body: {}, headers: { 'retry-after': '60' } }]
  expect(await rejectionOf(payingFetch(url(crypto)))).toBeInstanceOf(PaymentUnresolved)
  expect(service.presented).toHaveLength(1)
  expect(clock.pausesMs).toEqual([])
})

test('a service that says "in progress" without a pause uses up the attempts', async () => {
  const { payingFetch, service, url } = await openScene()
  service.script = Array.from({ length: 20 }, () => refusal(409, 'PAYMENT_IN_PROGRESS'))
  expect(await rejectionOf(payingFetch(url(crypto)))).toBeInstanceOf(PaymentUnresolved)
  expect(service.presented).toHaveLength(10)
})

test('a payment whose answer does not exist is unspent, and buys another answer under another key', async () => {
  const { payingFetch, service, wallet, proofs, keys, url } = await openScene()
  service.script = [refusal(404, 'NO_DATA')]
  const error = await rejectionOf(payingFetch(url('/api/data/weather?city=Lodnon')))
  if (!(error instanceof PaymentUnspent)) throw error
  expect(error.lastAnswer).toMatchObject({ status: 404, code: 'NO_DATA' })
  const instead = { input: url('/api/data/weather?city=London') }
  const response = await payingFetch.resume(error.payment, { instead })
  expect(await response.json()).toMatchObject({ data: { ok: '/api/data/weather?city=London' } })
  expect([proofs().length, keys().length, wallet.signed]).toEqual([1, 2, 1])
})

test('a payment is unspent when the upstream fails to the end', async () => {
  const { payingFetch, service, url } = await openScene({ retry: { attemptsMax: 2 } })
  service.script = [refusal(502, 'UPSTREAM_FAILED'), refusal(504, 'UPSTREAM_TIMEOUT')]
  expect(await rejectionOf(payingFetch(url(crypto)))).toBeInstanceOf(PaymentUnspent)
})

test('a lost answer after an upstream failure leaves the outcome open, because it may have been delivered', async () => {
  const { payingFetch, service, url } = await openScene({ retry: { attemptsMax: 2 } })
  service.script = [refusal(502, 'UPSTREAM_FAILED'), 'reset']
  expect(await rejectionOf(payingFetch(url(crypto)))).toBeInstanceOf(PaymentUnresolved)
})

test('the failure of the last permitted attempt ends the payment, which is then not called valid', async () => {
  const { payingFetch, service, url } = await openScene()
  service.script = [refusal(502, 'UPSTREAM_FAILED'), refusal(502, 'UPSTREAM_FAILED', { reason: 'attempts_exhausted' })]
  const error = await rejectionOf(payingFetch(url(crypto)))
  expect(error).toMatchObject({ name: 'PaymentRefused', reason: 'attempts_exhausted' })
  expect(service.presented).toHaveLength(2)
})

const unclear: Record<string, Step> = {
  'another offer': { status: 402, body: { error: 'pay', code: 'PAYMENT_REQUIRED' } },
  'a 200 without a receipt': { status: 200, body: { success: true, data: {} } },
  'a 200 with the receipt of another payment': { status: 200, body: { success: true, receipt: { signature: '1' } } },
  'a page of a portal': { status: 200, body: '<html>Sign in to the network</html>' },
  'a bare 404': { status: 404, body: 'not here' },
}

for (const [name, step] of Object.entries(unclear)) {
  test(`${name} in answer to a proof leaves the outcome open and is not paid again`, async () => {
    const { payingFetch, service, wallet, proofs, url } = await openScene()
    service.script = [step]
    const error = await rejectionOf(payingFetch(url(crypto)))
    if (!(error instanceof PaymentUnresolved)) throw error
    expect(error.payment.proof).toBe(proofs()[0])
    expect([wallet.signed, service.presented.length, service.unpaid.length]).toEqual([1, 1, 1])
  })
}

test('a caller who stops after the payment has left gets the payment back', async () => {
  const stopping = new AbortController()
  const { payingFetch, service, wallet, url } = await openScene({
    onEvent: ({ kind }) => {
      if (kind === 'waiting') stopping.abort(new Error('enough'))
    },
  })
  service.script = ['reset']
  const error = await rejectionOf(payingFetch(url(crypto), { signal: stopping.signal }))
  expect(error).toBeInstanceOf(PaymentUnresolved)
  expect(error).toMatchObject({ payment: { wallet: wallet.address }, cause: new Error('enough') })
})

test('a caller who stops before the payment is signed has paid nothing', async () => {
  const stopping = new AbortController()
  const { payingFetch, service, url } = await openScene({ onEvent: () => stopping.abort(new Error('enough')) })
  const error = await rejectionOf(payingFetch(url(crypto), { signal: stopping.signal }))
  expect(error).toMatchObject({ name: 'PaymentNotSent' })
  expect(service.presented).toHaveLength(0)
})

test('a kept payment is not presented at another service', async () => {
  const other = await openScene()
  const { payingFetch, service, url } = await openScene({ retry: { attemptsMax: 1 } })
  service.script = ['reset']
  const error = await rejectionOf(payingFetch(url(crypto)))
  if (!(error instanceof PaymentUnresolved)) throw error
  const resumed = rejectionOf(payingFetch.resume(error.payment, { instead: { input: other.url(crypto) } }))
  expect(String(await resumed)).toContain('cannot be presented')
  const moved = { ...error.payment, request: { ...error.payment.request, url: 'http://pay.example/' } }
  expect(String(await rejectionOf(payingFetch.resume(moved)))).toContain('https')
  expect(other.service.presented).toHaveLength(0)
})

test('an answer without content to a settled payment of another protocol is delivered', async () => {
  const { payingFetch, service, clock, url } = await openScene({ retry: { attemptsMax: 1 } })
  service.script = ['reset']
  const error = await rejectionOf(payingFetch(url(crypto)))
  if (!(error instanceof PaymentUnresolved)) throw error
  const headers = { 'payment-response': Buffer.from('{"success":true}').toString('base64') }
  const fetch = () => Promise.resolve(new Response(null, { status: 204, headers }))
  const deps = { fetch, clock, retry: defaultRetryLimits, onEvent: () => undefined }
  const payment = { ...error.payment, protocol: 'x402' } as const
  const signal = new AbortController().signal
  expect((await presentPayment(deps, { payment, confirmed: false, signal })).status).toBe(204)
})

test('spending that could not be read is read again for the next payment', async () => {
  let reads = 0
  const { payingFetch, url } = await openScene({
    store: {
      keep: () => Promise.resolve(),
      close: () => Promise.resolve(),
      pending: () => Promise.resolve([]),
      spending: () => (reads++ === 0 ? Promise.reject(new Error('too many open files')) : Promise.resolve([])),
    },
  })
  expect(String(await rejectionOf(payingFetch(url(crypto))))).toContain('too many open files')
  expect((await payingFetch(url(crypto))).status).toBe(200)
  // The second payment is read for before its signature, and before it leaves.
  expect(reads).toBe(3)
})

test('a payment that a person signs late counts on the day on which its amount was reserved', async () => {
  const { clock, wallet } = await openScene()
  const times: unknown[] = []
  const reservedAtMs = clock.nowMs()
  const slow = await openScene({
    clock,
    store: {
      keep: ({ signedAtMs }) => Promise.resolve(void times.push(signedAtMs)),
      close: () => Promise.resolve(),
      pending: () => Promise.resolve([]),
      spending: () => Promise.resolve([]),
    },
    wallet: {
      address: wallet.address,
      async signTransaction(transaction) {
        await clock.sleep(19_000)
        return wallet.signTransaction(transaction)
      },
    },
  })
  expect((await slow.payingFetch(slow.url(crypto))).status).toBe(200)
  expect(times).toEqual([reservedAtMs])
})

test('text that is not a stored payment is rejected', () => {
  for (const text of ['', '{', 'null', '[]', '{"format":"tollbook-payment-1"}'])
    expect(readPendingPayment(text)).toBeUndefined()
})

test('a key that is in use refuses a payment of every protocol, because the service checks it before it settles', () => {
  const bytes = Uint8Array.from(utf8Bytes(JSON.stringify({ error: 'no', code: 'IDEMPOTENCY_KEY_REUSED' })))
  const answer = { status: 422, headers: new Headers(), bytes }
  for (const protocol of [{}, { protocol: 'x402' }, { protocol: 'mpp' }] as const)
    expect(judgeAnswer(answer, { signature: 'any', confirmed: false, ...protocol })).toEqual({
      kind: 'refused',
      reason: 'IDEMPOTENCY_KEY_REUSED',
    })
})

test('a throw at the event of a resumed payment leaves the payment to the next call', async () => {
  const stops = [true, true]
  const { payingFetch, service, wallet, url } = await openScene({
    store: openPaymentFolder(await makeScratchDirectory()),
    retry: { attemptsMax: 1 },
    onEvent: ({ kind }) => {
      if (kind === 'resumed' && stops.pop() === true) throw new Error('not now')
    },
  })
  service.script = ['reset']
  await rejectionOf(payingFetch(url(crypto)))
  for (const _ of [1, 2]) expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject({ message: 'not now' })
  expect((await payingFetch(url(crypto))).status).toBe(200)
  expect(wallet.signed).toBe(1)
})
