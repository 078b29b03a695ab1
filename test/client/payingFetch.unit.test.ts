import { TokenInstruction, transferCheckedInstructionData } from '@solana/spl-token'
import type { VersionedTransaction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { InvalidOption } from '@tollbook/client/errorCode'
import { PaymentNotSent } from '@tollbook/client/paymentError'
import type { PaymentStore } from '@tollbook/client/paymentStore'
import type { PaymentProgress } from '@tollbook/client/paymentProgress'
import type { PendingPayment } from '@tollbook/client/pendingPayment'
import { SpendingLimitExceeded } from '@tollbook/client/spendingLimit'
import { makeQuote, paymentTokenAccount } from './support/testToken.ts'
import { openScene, rejectionOf } from './support/payerScene.ts'
import { readPresentedProof } from './support/presentedProof.ts'
import { receiptEventOf, type Step } from './support/scriptedService.ts'

const crypto = '/api/data/crypto?symbol=BTC'

/** Burn, memo and transfer of a payment, read from its instructions. */
function readPayment(transaction: VersionedTransaction | undefined) {
  const { message } = assertPresent(transaction, 'the proof holds a transaction')
  const data = message.compiledInstructions.map(({ data }) => Buffer.from(data))
  const [burn, memo, transfer] = data
  expect(data).toHaveLength(3)
  expect(burn?.[0]).toBe(TokenInstruction.BurnChecked)
  const transferKeys = message.compiledInstructions[2]?.accountKeyIndexes ?? []
  return {
    memo: memo?.toString('utf8') ?? '',
    burnBaseUnits: burn?.readBigUInt64LE(1),
    transferBaseUnits: transferCheckedInstructionData.decode(transfer ?? Buffer.alloc(10)).amount,
    destination: message.staticAccountKeys[transferKeys[2] ?? -1]?.toBase58(),
  }
}

test('a free answer is returned unchanged, and nothing is signed for it', async () => {
  const { payingFetch, wallet, service, url } = await openScene()
  const response = await payingFetch(url('/api/health'))
  expect(await response.json()).toEqual({ success: true })
  expect(wallet.signed).toBe(0)
  expect(service.unpaid[0]?.headers['x-wallet-address']).toBe(wallet.address)
})

test('a 402 is paid with exactly the burn and the transfer of the quote, bound to its secret', async () => {
  const { payingFetch, wallet, service, url } = await openScene()
  const response = await payingFetch(url(crypto))
  expect(await response.json()).toMatchObject({ success: true, data: { ok: crypto } })
  const [offer] = service.issuedQuotes
  const [paid] = service.presented
  const proof = readPresentedProof(String(paid?.headers['x-payment-proof']))
  expect(proof.secret).toBe(offer?.quote.secret)
  expect(readPayment(proof.transaction)).toEqual({
    memo: offer?.quote.memo,
    burnBaseUnits: 6_000_000n,
    transferBaseUnits: 14_000_000n,
    destination: paymentTokenAccount.toBase58(),
  })
  expect(service.node.sent).toEqual([])
  expect(wallet.signed).toBe(1)
})

test('the plain transaction form has a nonce in place of the memo of the quote, so that two equal payments are two', async () => {
  const { payingFetch, service, url } = await openScene({ form: 'transaction' })
  await payingFetch(url(crypto))
  await payingFetch(url(crypto))
  const proofs = service.presented.map(({ headers }) => readPresentedProof(String(headers['x-payment-proof'])))
  expect(proofs.map(({ secret }) => secret)).toEqual([undefined, undefined])
  for (const { transaction } of proofs) expect(readPayment(transaction).memo).toMatch(/^nonce:[\w-]{22}$/)
  expect(new Set(proofs.map(({ signature }) => signature)).size).toBe(2)
})

function storeIn(open: Map<string, PendingPayment>): PaymentStore {
  return {
    keep: (payment) => Promise.resolve(void open.set(payment.signature, payment)),
    close: ({ signature }) => Promise.resolve(void open.delete(signature)),
    pending: () => Promise.resolve([...open.values()]),
    spending: () => Promise.resolve([]),
  }
}

test('a reader who stops a stream has the part that it wanted, and its payment is closed', async () => {
  const open = new Map<string, PendingPayment>()
  const endless = (signature: string) => {
    const location = `/api/receipts/solana:${signature}?attempt=attempt_1`
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('data: one\n\n')) })
    return new Response(body, { headers: { 'content-type': 'text/event-stream', 'receipt-location': location } })
  }
  const { payingFetch, url } = await openScene({
    store: storeIn(open),
    fetch: (input, init) => {
      const proof = new Headers(init?.headers).get('x-payment-proof')
      return proof === null ? fetch(input, init) : Promise.resolve(endless(readPresentedProof(proof).signature))
    },
  })
  const reader = (await payingFetch(url(crypto))).body?.getReader()
  await reader?.read()
  expect(open.size).toBe(1)
  await reader?.cancel()
  expect(open.size).toBe(0)
})

test('a stream that breaks unread and is then stopped does not keep its payment from the next call', async () => {
  const open = new Map<string, PendingPayment>()
  const { payingFetch, url } = await openScene({
    store: storeIn(open),
    fetch: (input, init) => {
      const proof = new Headers(init?.headers).get('x-payment-proof')
      if (proof === null) return fetch(input, init)
      const location = `/api/receipts/solana:${readPresentedProof(proof).signature}?attempt=attempt_1`
      let pulls = 0
      const body = new ReadableStream({
        pull(controller) {
          if (++pulls === 1) controller.enqueue(Buffer.from('data: one\n\n'))
          else controller.error(new Error('the connection broke'))
        },
      })
      const headers = { 'content-type': 'text/event-stream', 'receipt-location': location }
      return Promise.resolve(new Response(body, { headers }))
    },
  })
  const body = (await payingFetch(url(crypto))).body
  await awaitTurns()
  await body?.cancel().catch(() => undefined)
  expect(open.size).toBe(0)
})

/** Lets all steps run that wait for no event of the outside. */
const awaitTurns = () => new Promise((resolve) => void setImmediate(resolve))

test.each([
  ['breaks', 'broken stream'],
  ['ends without its receipt', 'short stream'],
] as const)(
  'a streamed answer that %s is bought again with the same payment, and one that is whole is passed on',
  async (_, step) => {
    const open = new Map<string, PendingPayment>()
    const { payingFetch, service, wallet, proofs, url } = await openScene({ store: storeIn(open) })
    service.script = [step, 'stream']
    const broken = await payingFetch(url(crypto))
    expect(broken.status).toBe(200)
    expect(await rejectionOf(broken.text())).toBeInstanceOf(Error)
    expect(open.size).toBe(1)
    const [signature = ''] = open.keys()
    expect(await (await payingFetch(url(crypto))).text()).toBe(`data: one\n\n${receiptEventOf(signature)}`)
    expect({ unspent: open.size, signed: wallet.signed, proofs: proofs().length }).toEqual({
      unspent: 0,
      signed: 1,
      proofs: 1,
    })
  },
)

test.each(['deliver', 'stream'] as const)('a paid answer (%s) has no header about the transfer', async (step) => {
  const { payingFetch, service, url } = await openScene({
    fetch: async (input, init) => {
      const answer = await fetch(input, init)
      if (answer.status !== 200) return answer
      // The body was decoded, so these headers are wrong for it.
      const wrong = { 'content-encoding': 'gzip', 'content-length': '3', 'transfer-encoding': 'x', etag: 'kept' }
      return new Response(answer.body, { headers: { ...Object.fromEntries(answer.headers), ...wrong } })
    },
  })
  service.script = [step]
  const { headers } = await payingFetch(url(crypto))
  const names = ['content-encoding', 'content-length', 'transfer-encoding', 'etag']
  expect(names.map((name) => headers.get(name))).toEqual([null, null, null, 'kept'])
})

test('a request with a body is sent with the same body and as JSON when it is paid for', async () => {
  const { payingFetch, service, url } = await openScene()
  await payingFetch(url('/api/tools/qrcode'), { method: 'POST', body: '{"data":"hello"}' })
  const [unpaid, paid] = [service.unpaid[0], service.presented[0]]
  expect([unpaid?.body, paid?.body]).toEqual(['{"data":"hello"}', '{"data":"hello"}'])
  expect([unpaid?.headers['content-type'], paid?.headers['content-type']]).toEqual([
    'application/json',
    'application/json',
  ])
})

test('the chain is asked for token and rent once, and for the balances and a blockhash at each payment', async () => {
  const { payingFetch, service, url } = await openScene()
  await payingFetch(url(crypto))
  await payingFetch(url(crypto))
  expect(service.node.calls).toEqual([
    'getGenesisHash',
    'getMultipleAccounts',
    'getMinimumBalanceForRentExemption',
    'getMultipleAccounts',
    'getLatestBlockhash',
    'getMultipleAccounts',
    'getLatestBlockhash',
  ])
})

const refusal = (status: number, code: string, more: object = {}): Step => {
  return { status, body: { error: 'no', code, ...more } }
}

const misfortunes: Record<string, Step[]> = {
  'a connection that breaks before the answer': ['reset'],
  'a connection that breaks in the middle of the answer': ['cut'],
  'an answer that never comes': ['hang'],
  'another request with the proof being served': [refusal(409, 'PAYMENT_IN_PROGRESS')],
  'a payment that is on its way': [refusal(503, 'PAYMENT_PENDING')],
  'a payment that the node does not know yet': [refusal(402, 'INVALID_PAYMENT', { reason: 'not_found' })],
  'an upstream that failed once': [refusal(502, 'UPSTREAM_FAILED')],
  'a service that is overloaded': [refusal(503, 'OVERLOADED')],
  'a rate limit': [refusal(429, 'RATE_LIMITED')],
  'a proxy that waited too long': [{ status: 408, body: 'too slow' }],
  'a proxy that wants the request later': [{ status: 425, body: 'too early' }],
  'a gateway that answers in its own words': [{ status: 502, body: '<html>Bad gateway</html>' }],
  'an internal error': [refusal(500, 'INTERNAL_ERROR')],
  'all of it in a row': ['reset', 'hang', 'cut', refusal(409, 'PAYMENT_IN_PROGRESS'), refusal(503, 'PAYMENT_PENDING')],
}

for (const [misfortune, script] of Object.entries(misfortunes)) {
  test(`${misfortune} costs no second payment: the same proof and key are presented again`, async () => {
    const { payingFetch, service, wallet, proofs, keys, url } = await openScene()
    service.script = [...script]
    const response = await payingFetch(url(crypto))
    expect(await response.json()).toMatchObject({ success: true })
    expect(service.presented).toHaveLength(script.length + 1)
    expect([wallet.signed, service.unpaid.length, proofs().length, keys().length]).toEqual([1, 1, 1, 1])
  })
}

test('a Retry-After is waited for, and without one the pauses double', async () => {
  const { payingFetch, service, clock, url } = await openScene()
  const pending = { status: 503, body: { error: 'no', code: 'PAYMENT_PENDING' }, headers: { 'retry-after': '3' } }
  service.script = [pending, 'reset', 'reset', { ...pending, headers: { 'retry-after': '2' } }, 'reset']
  await payingFetch(url(crypto))
  expect(clock.pausesMs).toEqual([3_000, 1_000, 2_000, 2_000, 8_000])
})

test('the last attempt ends with the time of all attempts, although an attempt alone may take longer', async () => {
  const { payingFetch, service, clock, url } = await openScene({
    retry: { attemptTimeoutMs: 60_000, totalTimeMs: 90_000 },
  })
  service.script = ['hang', 'hang']
  expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject({ name: 'PaymentUnresolved' })
  expect([service.presented.length, clock.monotonicMs()]).toEqual([2, 90_000])
})

test('a proof that is being served uses up time and no tries, because the lease of a dead process lasts a minute', async () => {
  const { payingFetch, service, clock, wallet, url } = await openScene()
  const body = { error: 'no', code: 'PAYMENT_IN_PROGRESS' }
  const served = { status: 409, body, headers: { 'retry-after': '5' } }
  service.script = ['reset', ...Array.from({ length: 13 }, () => served)]
  expect((await payingFetch(url(crypto))).status).toBe(200)
  expect([clock.pausesMs.length, wallet.signed]).toEqual([14, 1])
})

test('each call has its own idempotency key, unless the caller provides one', async () => {
  const { payingFetch, service, keys, url } = await openScene()
  await payingFetch(url(crypto))
  await payingFetch(url(crypto))
  await payingFetch(url(crypto), { headers: { 'Idempotency-Key': 'mine' } })
  expect(new Set(keys()).size).toBe(3)
  expect(keys()[2]).toBe('mine')
  expect(service.unpaid.map(({ headers }) => headers['idempotency-key'])).toEqual(keys())
})

test('a quote above the limit is refused before signing, with both numbers', async () => {
  const { payingFetch, wallet, service, url } = await openScene()
  service.quote = (endpoint) => makeQuote({ endpoint, priceUSD: 0.08, nowMs: Date.now() })
  const error = await rejectionOf(payingFetch(url('/api/tools/pdf')))
  expect(error).toBeInstanceOf(SpendingLimitExceeded)
  expect(error).toMatchObject({ unit: 'USD', scope: 'per request', asked: '0.08', allowed: '0.05' })
  expect(String(error)).toContain('asks 0.08 USD')
  expect(String(error)).toContain('leaves 0.05 USD')
  expect([wallet.signed, service.presented.length]).toEqual([0, 0])
})

test('of five requests at once only as many are paid as the total allows', async () => {
  const { payingFetch, wallet, url } = await openScene({
    spendingLimit: { perRequest: { usd: '0.02' }, total: { usd: '0.065' } },
  })
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => payingFetch(url(crypto))))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  const rejected = outcomes.filter((outcome) => outcome.status === 'rejected')
  for (const { reason } of rejected) expect(reason).toMatchObject({ scope: 'in total', allowed: '0.005' })
  expect(wallet.signed).toBe(3)
})

test('the payment is handed to the caller before it leaves, and a caller who throws then has not paid', async () => {
  const seenBefore: number[] = []
  const scene = await openScene({
    spendingLimit: { perRequest: { usd: '0.02' }, total: { usd: '0.02' } },
    onEvent: async (event) => {
      if (event.kind !== 'signed') return
      seenBefore.push(scene.service.presented.length)
      if (seenBefore.length === 1) throw new Error('the disk is full')
    },
  })
  const error = await rejectionOf(scene.payingFetch(scene.url(crypto)))
  expect(error).toBeInstanceOf(PaymentNotSent)
  expect(String(error)).toContain('the disk is full')
  expect(scene.service.presented).toHaveLength(0)
  // The budget has the money back, so the next request may be paid.
  expect((await scene.payingFetch(scene.url(crypto))).status).toBe(200)
  expect(seenBefore).toEqual([0, 0])
})

test('the steps of a payment are reported in order', async () => {
  const events: PaymentProgress['kind'][] = []
  const { payingFetch, service, url } = await openScene({ onEvent: ({ kind }) => void events.push(kind) })
  service.script = ['reset']
  await payingFetch(url(crypto))
  expect(events).toEqual(['quoted', 'signed', 'waiting', 'delivered'])
})

test('a wallet that signs after the quote has ended has paid nothing', async () => {
  const scene = await openScene()
  const { wallet, clock, service } = scene
  const slow = await openScene({
    clock,
    wallet: {
      address: wallet.address,
      signTransaction: (transaction) => {
        clock.expire()
        return wallet.signTransaction(transaction)
      },
    },
  })
  const error = await rejectionOf(slow.payingFetch(slow.url(crypto)))
  expect(error).toBeInstanceOf(PaymentNotSent)
  expect([slow.service.presented.length, service.presented.length]).toEqual([0, 0])
})

test('an offer that expires before its signature is requested is not signed', async () => {
  const scene = await openScene({
    async onEvent({ kind }) {
      if (kind !== 'quoted') return
      for (let waitedMs = 0; waitedMs <= 300_000; waitedMs += 19_000) await scene.clock.sleep(19_000)
    },
  })
  const error = await rejectionOf(scene.payingFetch(scene.url(crypto)))
  expect(error).toMatchObject({ name: 'PaymentNotSent', message: expect.stringContaining('the offer has expired') })
  expect([scene.wallet.signed, scene.service.presented.length]).toEqual([0, 0])
})

test('a wallet that returns the transaction unsigned has paid nothing', async () => {
  const { wallet } = await openScene()
  const { payingFetch, service, url } = await openScene({
    wallet: { address: wallet.address, signTransaction: async (transaction) => transaction },
  })
  expect(String(await rejectionOf(payingFetch(url(crypto))))).toContain('unsigned')
  expect(service.presented).toHaveLength(0)
})

test('an offer that never ends is not waited for, and nothing is signed for it', async () => {
  const { payingFetch, service, wallet, url } = await openScene()
  service.quote = () => 'stall'
  expect(String(await rejectionOf(payingFetch(url(crypto))))).toContain('no answer within')
  expect(wallet.signed).toBe(0)
})

test('a service on the network is paid over https only', async () => {
  const { payingFetch, wallet } = await openScene()
  for (const url of [
    'http://pay.example/api/data/crypto',
    'http://localhost.example/',
    'http://10.0.0.1/',
    'ftp://127.0.0.1/',
    'localhost:3402',
  ]) {
    expect(String(await rejectionOf(payingFetch(url)))).toContain('https')
  }
  const withLogin = await rejectionOf(payingFetch('https://u:secret@pay.example/'))
  expect([withLogin instanceof InvalidOption, String(withLogin)]).toEqual([
    true,
    expect.stringMatching(/pay\.example must have no user name and no password$/),
  ])
  expect(wallet.signed).toBe(0)
})

test('a redirect is never followed: to the caller it is an answer, and with a proof in hand an open outcome', async () => {
  const other = await openScene()
  const { payingFetch, service, wallet, url } = await openScene()
  const redirect = { status: 307, body: {}, headers: { location: other.url('/steal') } }
  service.quote = () => redirect
  expect((await payingFetch(url(crypto))).status).toBe(307)
  service.quote = (endpoint) => makeQuote({ endpoint, nowMs: Date.now() })
  service.script = [redirect]
  const error = await rejectionOf(payingFetch(url(crypto)))
  expect(error).toMatchObject({ name: 'PaymentUnresolved', message: expect.stringContaining(other.url('/steal')) })
  expect([other.service.presented.length, other.service.unpaid.length, wallet.signed]).toEqual([0, 0, 1])
})

test('a proof of the caller’s own is not sent along by accident', async () => {
  const { payingFetch, service, url } = await openScene()
  const call = payingFetch(url(crypto), { headers: { 'x-payment-proof': 'abcd' } })
  expect(String(await rejectionOf(call))).toContain('payingFetch.resume')
  expect(service.unpaid).toHaveLength(0)
})
