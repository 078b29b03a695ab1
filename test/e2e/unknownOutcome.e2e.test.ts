import { beforeAll, describe, expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import type { PaymentChange, PaymentLedger } from '../../src/payment/paymentLedger.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { scriptedEndpoint, withEndpoint } from '../support/scriptedEndpoint.ts'
import { openTestService, type TestService } from '../support/testService.ts'

/** A ledger that can be told to lose its answer: before the append happens, or after it. */
type Loss = { readonly of: string; readonly when: 'before' | 'after' } | undefined
let loss: Loss
let readFails = false

function unreliable(inner: PaymentLedger): PaymentLedger {
  const lost = new Fault('the ledger did not say whether it took the append', { retryable: true })
  return {
    ...inner,
    lookUp: (question) => (readFails ? Promise.reject(lost) : inner.lookUp(question)),
    recordQuote: (quote) => (readFails ? Promise.reject(lost) : inner.recordQuote(quote)),
    async append(change: PaymentChange) {
      const hit = loss !== undefined && change.events.some(({ kind }) => kind === loss?.of) ? loss : undefined
      if (hit !== undefined) loss = undefined
      if (hit?.when === 'before') throw lost
      const outcome = await inner.append(change)
      if (hit?.when === 'after') throw lost
      return outcome
    },
  }
}

const scripted = scriptedEndpoint()
const { order } = scripted
let service: TestService
beforeAll(async () => {
  service = await openTestService({
    seams: { ledger: unreliable, endpoints: withEndpoint(scripted) },
    // The handler answers at once, so only the lease is a matter of time.
    env: { HANDLER_TIMEOUT_MS: '500' },
  })
})

async function paidProof(): Promise<string> {
  return service.payer.pay(await askForQuote(service, order))
}

/** A lease of a second may have to end first. */
const askUntilServed = (request: Parameters<typeof ask>[1]) =>
  awaitThat('the answer is served', async () => {
    const reply = await ask(service, request)
    return reply.status === 409 ? undefined : reply
  })

describe('I8 an unknown outcome is never a 402', () => {
  test.each([
    'unavailable',
    'disconnect',
    { code: -32_015, message: 'Transaction version (1) is not supported' },
    { code: -32_004, message: 'Block not available' },
  ] as const)('when the node fails with %j: 503, the proof stays valid', async (outcome) => {
    const proof = await paidProof()
    service.chain.failRequests({ method: 'getTransaction', times: 1, outcome })
    const reply = await ask(service, { ...order, proof })
    expect(reply).toMatchObject({ status: 503, body: { code: 'PAYMENT_PENDING' } })
    expect(reply.headers.get('retry-after')).toBe('2')
    expect((await ask(service, { ...order, proof })).status).toBe(200)
  })

  test('when the ledger cannot be read: 503, the proof stays valid', async () => {
    const proof = await paidProof()
    readFails = true
    expect(await ask(service, { ...order, proof })).toMatchObject({ status: 503, body: { code: 'PAYMENT_PENDING' } })
    expect(await ask(service, order)).toMatchObject({ status: 503, body: { code: 'ENDPOINT_UNAVAILABLE' } })
    readFails = false
    expect((await ask(service, { ...order, proof })).status).toBe(200)
  })

  test.each([
    ['ProofClaimed', 'before'],
    ['ProofClaimed', 'after'],
    ['RequestFulfilled', 'before'],
  ] as const)(
    'when the append of %s loses its answer %s it is taken: 503, and the same proof buys exactly one answer',
    async (of, when) => {
      const proof = await paidProof()
      loss = { of, when }
      expect(await ask(service, { ...order, proof })).toMatchObject({
        status: 503,
        body: { code: 'PAYMENT_PENDING' },
      })
      expect((await askUntilServed({ ...order, proof })).status).toBe(200)
      expect(await ask(service, { ...order, proof })).toMatchObject({ status: 402, body: { reason: 'already_used' } })
    },
  )

  test('when the answer of the fulfilment is lost after it was taken, the key of the caller still gets the answer', async () => {
    const request = { ...order, proof: await paidProof(), idempotencyKey: 'lost-1' }
    loss = { of: 'RequestFulfilled', when: 'after' }
    expect((await ask(service, request)).status).toBe(503)
    const replay = await ask(service, request)
    expect(replay.status).toBe(200)
    expect(replay.headers.get('idempotent-replay')).toBe('true')
  })

  test('when a transaction was sent and its answer was lost, nothing else is sent and the same proof buys', async () => {
    const quote = await askForQuote(service, order)
    const payment = await service.payer.sign(quote)
    const request = { ...order, proof: Buffer.from(payment.bytes).toString('base64') }
    service.chain.failRequests({ method: 'sendTransaction', times: 1, outcome: 'disconnect', afterEffect: true })
    expect(await ask(service, request)).toMatchObject({ status: 503, body: { code: 'PAYMENT_PENDING' } })
    expect((await askUntilServed(request)).status).toBe(200)
  })
})
