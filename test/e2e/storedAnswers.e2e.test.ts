import { beforeAll, describe, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import { readSignature } from '@tollbook/core/signature'
import type { PaymentLedger } from '../../src/payment/paymentLedger.ts'
import { transactionReference, streamIdOf } from '../../src/payment/paymentReference.ts'
import type { Outcome } from '../../src/product/product.ts'
import { createLog } from '../../src/machine/log.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { withAdminSession } from '../support/adminSession.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { endRepeats } from '../support/endRepeats.ts'
import { delivers, scriptedEndpoint, withEndpoint } from '../support/scriptedEndpoint.ts'
import { openTestService, type TestService } from '../support/testService.ts'

const scripted = scriptedEndpoint()
const { order } = scripted
let losesFulfilment = false

/** A ledger that takes the fulfilment, and whose answer is lost. */
function lossy(inner: PaymentLedger): PaymentLedger {
  return {
    ...inner,
    async append(change) {
      const outcome = await inner.append(change)
      if (!losesFulfilment || !change.events.some(({ kind }) => kind === 'RequestFulfilled')) return outcome
      losesFulfilment = false
      throw new Fault('the ledger did not say whether it took the append', { retryable: true })
    },
  }
}

const lines: string[] = []
const log = createLog({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } })

let service: TestService
let another: TestService

beforeAll(async () => {
  service = await openTestService({ log, seams: { endpoints: withEndpoint(scripted), ledger: lossy } })
  another = await openTestService({ besides: service, seams: { endpoints: withEndpoint(scripted) } })
})

async function paidProof(form: 'signature' | 'transaction' | 'boundSignature' = 'signature'): Promise<string> {
  return service.payer.pay(await askForQuote(service, order), form)
}

/** A proof whose answer was recorded, and never sent. */
async function loseAnswer(form: 'signature' | 'transaction' | 'boundSignature' = 'signature'): Promise<string> {
  const proof = await paidProof(form)
  losesFulfilment = true
  expect(await ask(service, { ...order, proof })).toMatchObject({ status: 503, body: { code: 'PAYMENT_PENDING' } })
  return proof
}

const alreadyUsed = { status: 402, body: { code: 'INVALID_PAYMENT', reason: 'already_used' } }

describe('an answer whose delivery is not known', () => {
  test.each(['signature', 'transaction', 'boundSignature'] as const)(
    'is sent for the same proof (%s) without running the handler again, and once it was sent the proof is used',
    async (form) => {
      const proof = await loseAnswer(form)
      const runs = scripted.runs()
      const replay = await ask(service, { ...order, proof })
      expect(replay).toMatchObject({ status: 200, body: { success: true, data: { answer: 42 } } })
      expect(replay.headers.get('idempotent-replay')).toBe('true')
      expect(scripted.runs()).toBe(runs)
      if (form === 'boundSignature') await endRepeats(service.database.adminUrl)
      expect(await ask(service, { ...order, proof })).toMatchObject(alreadyUsed)
    },
  )

  test('is sent by another instance too, and with an Idempotency-Key that was not sent the first time', async () => {
    const proof = await loseAnswer()
    const replay = await ask(another, { ...order, proof, idempotencyKey: 'late-key' })
    expect(replay.status).toBe(200)
    expect(replay.headers.get('idempotent-replay')).toBe('true')
  })

  test('is not sent for another order, to another wallet, or without the secret of its quote', async () => {
    const proof = await loseAnswer('boundSignature')
    expect(await ask(service, { path: '/api/data/crypto?symbol=ETH', proof })).toMatchObject(alreadyUsed)
    const wallet = 'HonTEwkKeE5xnZ9jPZMhUgPEmSRxjnfmaxg9FNkY7HK9'
    expect(await ask(service, { ...order, wallet, proof })).toMatchObject({ body: { reason: 'other_wallet' } })
    const { signature } = JSON.parse(Buffer.from(proof, 'base64').toString('utf8'))
    const bare = Buffer.from(signature).toString('base64')
    expect(await ask(service, { ...order, proof: bare })).toMatchObject({ body: { reason: 'secret_required' } })
    expect((await ask(service, { ...order, proof })).status).toBe(200)
  })
})

/** Stream of the payment of a proof that holds a signature. */
function streamOf(proof: string): Uint8Array {
  const text = Buffer.from(proof, 'base64').toString('utf8')
  const signature = readSignature(
    text.startsWith('{') ? z.object({ signature: z.string() }).parse(JSON.parse(text)).signature : text,
  )
  return streamIdOf(transactionReference(assertPresent(signature, 'a proof has a signature')))
}

/** Number of answers that are stored for one payment and not known to have been sent. */
async function countUnsent(proof: string): Promise<number> {
  return withAdminSession(service.database.adminUrl, async (session) => {
    const text = 'select from ledger.notes where id = $1 and sent_at is null'
    const { rowCount } = await session.query(text, [streamOf(proof)])
    return rowCount ?? -1
  })
}

describe('a served request', () => {
  const served = z.object({
    event: z.literal('request_served'),
    requestId: z.string().startsWith('request_'),
    endpoint: z.literal('/api/data/crypto'),
    wallet: z.string(),
    reference: z.string().startsWith('solana:'),
    position: z.int().positive(),
    isReplay: z.boolean(),
    durationMs: z.int().nonnegative(),
  })

  test('has one line in the log at info, without proof and answer; a refused one has none', async () => {
    const proof = await paidProof()
    lines.length = 0
    const reply = await ask(service, { ...order, proof })
    expect((await ask(service, { ...order, proof })).status).toBe(402)
    const found = lines.filter((line) => line.includes('request_served'))
    expect(found).toHaveLength(1)
    const line = served.parse(JSON.parse(found[0] ?? ''))
    expect(line).toMatchObject({
      requestId: reply.headers.get('x-request-id'),
      wallet: service.payer.address,
      reference: `solana:${Buffer.from(proof, 'base64').toString('utf8')}`,
      isReplay: false,
    })
    expect(found[0]).not.toContain(proof)
    expect(found[0]).not.toContain('answer')
  })
})

describe('an answer that was sent to the holder of a secret (I1)', () => {
  test('is sent again for two minutes by every instance, and the handler does not run', async () => {
    const proof = await paidProof('boundSignature')
    const first = await ask(service, { ...order, proof })
    const runs = scripted.runs()
    const repeats = [await ask(service, { ...order, proof }), await ask(another, { ...order, proof })]
    await awaitThat('the answer is marked as sent', async () => (await countUnsent(proof)) === 0)
    repeats.push(await ask(service, { ...order, proof }), await ask(another, { ...order, proof }))

    for (const repeat of repeats) {
      expect([repeat.status, repeat.headers.get('idempotent-replay')]).toEqual([200, 'true'])
      expect(repeat.body).toEqual(first.body)
    }
    expect(scripted.runs()).toBe(runs)

    await endRepeats(service.database.adminUrl)
    expect(await ask(another, { ...order, proof })).toMatchObject(alreadyUsed)
    expect(await ask(service, { ...order, proof })).toMatchObject(alreadyUsed)
  })

  test('is not sent again for another order, to another wallet, or without the secret', async () => {
    const proof = await paidProof('boundSignature')
    expect((await ask(service, { ...order, proof })).status).toBe(200)
    expect(await ask(service, { path: '/api/data/crypto?symbol=ETH', proof })).toMatchObject(alreadyUsed)
    const wallet = 'HonTEwkKeE5xnZ9jPZMhUgPEmSRxjnfmaxg9FNkY7HK9'
    expect(await ask(service, { ...order, wallet, proof })).toMatchObject({ body: { reason: 'other_wallet' } })
    const { signature } = z.object({ signature: z.string() }).parse(JSON.parse(Buffer.from(proof, 'base64').toString()))
    const bare = Buffer.from(signature).toString('base64')
    expect(await ask(service, { ...order, proof: bare })).toMatchObject({ body: { reason: 'secret_required' } })
  })
})

describe('an answer that was sent', () => {
  // Everyone can read signature and transaction of a plain payment on chain.
  test.each(['signature', 'transaction'] as const)('for a plain %s is not sent again, to no caller', async (form) => {
    const proof = await paidProof(form)
    expect((await ask(service, { ...order, proof })).status).toBe(200)
    for (let repeat = 1; repeat <= 2; repeat++)
      expect(await ask(service, { ...order, proof })).toMatchObject(alreadyUsed)
  })

  test('does not stay stored, and every instance knows that the proof is used', async () => {
    const proof = await paidProof()
    expect((await ask(service, { ...order, proof })).status).toBe(200)
    await awaitThat('the answer is marked as sent', async () => (await countUnsent(proof)) === 0)
    expect(await ask(another, { ...order, proof })).toMatchObject(alreadyUsed)
  })

  test('stays stored under its Idempotency-Key, and the proof alone does not open it', async () => {
    const request = { ...order, proof: await paidProof(), idempotencyKey: 'kept-1' }
    expect((await ask(service, request)).status).toBe(200)
    await awaitThat('the answer is marked as sent', async () => (await countUnsent(request.proof)) === 0)
    expect(await ask(another, { ...order, proof: request.proof })).toMatchObject(alreadyUsed)
    expect((await ask(another, request)).headers.get('idempotent-replay')).toBe('true')
  })

  test('is not the one of a caller whose connection ended before the answer was ready', async () => {
    const proof = await paidProof()
    const left = new AbortController()
    const { promise: finished, resolve: finish } = Promise.withResolvers<Outcome>()
    const started = Promise.withResolvers<undefined>()
    scripted.script(() => {
      started.resolve(undefined)
      return finished
    })
    const headers = { 'x-wallet-address': service.payer.address, 'x-payment-proof': proof }
    const leaving = fetch(`${service.baseUrl}${order.path}`, { headers, signal: left.signal })
    await started.promise
    left.abort()
    await expect(leaving).rejects.toThrow('aborted')
    // The service has seen the end of that connection when it answers on a later one.
    await fetch(`${service.baseUrl}/livez`)
    finish(delivers)
    await awaitThat('the answer is recorded', async () => (await countUnsent(proof)) === 1)
    expect((await ask(service, { ...order, proof })).headers.get('idempotent-replay')).toBe('true')
    expect(await ask(service, { ...order, proof })).toMatchObject(alreadyUsed)
  })
})
