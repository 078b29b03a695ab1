import { createApproveInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token'
import {
  Connection,
  Keypair,
  PublicKey,
  sendAndConfirmTransaction,
  Transaction,
  VersionedTransaction,
} from '@solana/web3.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { decodePaymentResponseHeader, x402HTTPClient } from '@x402/fetch'
import {
  extractReceiptFromResponse,
  isJWSSignedReceipt,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt'
import { appendPaymentIdentifierToExtensions } from '@x402/extensions/payment-identifier'
import { z } from 'zod'
import { assert, assertPresent } from '@tollbook/core/assert'
import { quoteBody, saleBody } from '@tollbook/core/wire'
import { auditLedger } from '../../support/ledgerFindings.ts'
import { ask, qrOrder } from '../../support/ask.ts'
import { openDroppingProxy } from '../../proofs/droppingProxy.ts'
import { readProofLedger } from '../../proofs/proofLedger.ts'
import { endRepeats } from '../../support/endRepeats.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import { openTestService } from '../../support/testService.ts'
import {
  openX402Service,
  repeatingFetch,
  stockClient,
  stockFetch,
  type X402Service,
} from '../../support/x402Service.ts'

let x402: X402Service
let payingFetch: typeof fetch

beforeAll(async () => {
  x402 = await openX402Service()
  const { service, tokenMint } = x402
  payingFetch = await stockFetch(service.demoWallet, { rpcUrl: service.chain.rpcUrl, asset: tokenMint })
})

const json = { 'content-type': 'application/json' }
const qr = { method: 'POST', headers: json, body: JSON.stringify(qrOrder.body) }
const mounted = `/x402${qrOrder.path}`
const urlOf = (path: string) => `${x402.service.baseUrl}${path}`

const offer = z.object({
  x402Version: z.literal(2),
  error: z.string(),
  resource: z.looseObject({ url: z.url() }),
  accepts: z.tuple([
    z.looseObject({
      amount: z.string(),
      extra: z.looseObject({ secret: z.string(), memo: z.string(), feePayer: z.string() }),
    }),
  ]),
  extensions: z.looseObject({}).optional(),
})

const decoded = (value: string | null) => JSON.parse(Buffer.from(value ?? '', 'base64').toString())
const offerOf = (headers: Headers) => offer.parse(decoded(headers.get('payment-required')))

/** A payment by the stock client, before it is sent. */
async function sign(wallet: Keypair = x402.service.demoWallet, identifier?: string) {
  const response = await fetch(urlOf(mounted), qr)
  const client = await stockClient(wallet, x402.service.chain.rpcUrl, x402.tokenMint)
  const http = new x402HTTPClient(client)
  const required = http.getPaymentRequiredResponse((name) => response.headers.get(name), await response.json())
  if (identifier !== undefined) appendPaymentIdentifierToExtensions(required.extensions ?? {}, identifier)
  const payload = await client.createPaymentPayload(required)
  const header = assertPresent(http.encodePaymentSignatureHeader(payload)['PAYMENT-SIGNATURE'], 'a payment is signed')
  return { header, payload: z.looseObject({}).parse(decoded(header)) }
}

const encode = (payload: object) => Buffer.from(JSON.stringify(payload)).toString('base64')
const present = (header: string, path = mounted, service = x402.service) =>
  fetch(`${service.baseUrl}${path}`, { ...qr, headers: { ...json, 'payment-signature': header } })

describe('the 402', () => {
  test('offers both rails to a caller with a wallet, and x402 alone at the mount', async () => {
    const both = await ask(x402.service, qrOrder)
    const { quote } = quoteBody.parse(both.body)
    expect(both.body['error']).toMatch(/pay by x402 .*; or burn/)
    expect(offerOf(both.headers)).toMatchObject({
      accepts: [{ scheme: 'exact', amount: quote.requiredBaseUnits, extra: { paymentFlow: 'upfront' } }],
    })
    const alone = await fetch(urlOf(mounted), qr)
    expect(alone.status).toBe(402)
    expect(await alone.json()).not.toHaveProperty('quote')
    expect(offerOf(alone.headers)).toMatchObject({ resource: { url: urlOf(mounted) } })
  })

  test('stays a 401 on the own path without any marker', async () => {
    const response = await fetch(urlOf(qrOrder.path), qr)
    expect(response.status).toBe(401)
    expect(response.headers.get('payment-required')).toBeNull()
  })

  test.each([
    ['GET', '/x402/api/data/crypto'],
    ['POST', mounted],
  ])('answers a probe by %s %s with the price', async (method, path) => {
    const response = await fetch(urlOf(path), { method })
    expect(response.status).toBe(402)
    expect(offerOf(response.headers).extensions).toMatchObject({
      bazaar: { info: { input: { type: 'http', method } } },
    })
  })

  test.each([
    ['a wrong parameter', '/x402/api/data/crypto?coin=BTC', {}],
    ['an empty body', mounted, { ...qr, body: '{}' }],
    ['no input and a payment', '/x402/api/data/crypto', { headers: { 'payment-signature': 'AAAA' } }],
  ])('is a 400 for %s, before any payment', async (_name, path, init) => {
    expect((await fetch(urlOf(path), init)).status).toBe(400)
  })

  // The paths of x402's own tests (malformedPathBypass), and the same below our mount.
  test.each(['%', '%c0', '/some-param%', '/%2e%2e/crypto%00'])(
    'is not bypassed by a path that ends in %s',
    async (end) => {
      for (const prefix of ['', '/x402']) {
        const response = await fetch(urlOf(`${prefix}/api/data/crypto${end}`))
        expect(response.status).toBe(404)
        expect(await response.json()).not.toHaveProperty('data')
      }
    },
  )

  test('may be read by a page of another origin, which learns the headers first', async () => {
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' }
    const preflight = await fetch(urlOf(mounted), { method: 'OPTIONS', headers })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('payment-signature')
    const answer = await fetch(urlOf(mounted), { ...qr, headers: { ...json, origin: 'https://shop.example' } })
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-expose-headers')).toContain('payment-required, payment-response')
    expect((await fetch(urlOf('/metrics'))).headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('the stock client', () => {
  test.each([
    ['at the mount, without any header of ours', mounted, {}],
    ['on the own path, with its wallet in a header', qrOrder.path, { wallet: true }],
  ])('buys %s', async (_name, path, { wallet = false }: { readonly wallet?: boolean }) => {
    const headers = wallet ? { ...json, 'x-wallet-address': x402.service.payer.address } : json
    const response = await payingFetch(urlOf(path), { ...qr, headers })
    const text = await response.text()
    expect(response.status, text).toBe(200)
    const { receipt } = saleBody.parse(JSON.parse(text))
    expect(receipt).toMatchObject({
      wallet: x402.service.payer.address,
      burned: '0',
      burnOwed: '1500000',
      quoteId: null,
    })
    const settled = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
    expect(settled).toMatchObject({ success: true, transaction: receipt.signature, payer: receipt.wallet })
  })

  test('gets a lost answer without a second payment, on a fetch that repeats a broken request', async () => {
    const { service, tokenMint: asset } = x402
    await using proxy = await openDroppingProxy([service.baseUrl], 1)
    const inner = repeatingFetch
    const patient = await stockFetch(service.demoWallet, { rpcUrl: service.chain.rpcUrl, asset, inner })
    const before = await readProofLedger(service.database.adminUrl)
    const response = await patient(`${proxy.baseUrl}${mounted}`, qr)
    expect([response.status, response.headers.get('idempotent-replay'), proxy.dropped()]).toEqual([200, 'true', 1])
    const { payments } = await readProofLedger(service.database.adminUrl)
    expect(payments - before.payments).toBe(1)
  })

  test('gets a receipt that it verifies by the DID of the service', async () => {
    const response = await payingFetch(urlOf(mounted), qr)
    const { receipt } = saleBody.parse(await response.json())
    const second = assertPresent(extractReceiptFromResponse(response), 'the answer has a second receipt')
    assert(isJWSSignedReceipt(second), 'it is a JWS')
    const { resourceUrl, payer, transaction, network } = await verifyReceiptSignatureJWS(second)
    expect([resourceUrl, payer, transaction]).toEqual([urlOf(mounted), receipt.wallet, receipt.signature])
    expect(network).toBe(offerOf((await fetch(urlOf(mounted), qr)).headers).accepts[0]['network'])
  })

  test('names its payment, and gets the stored answer for the same name and payment', async () => {
    const { header } = await sign(undefined, 'order-0000000000000001')
    const { header: unnamed } = await sign()
    expect([(await present(header)).status, (await present(unnamed)).status]).toEqual([200, 200])
    await endRepeats(x402.service.database.adminUrl)
    expect([isReplay(await present(header)), isReplay(await present(unnamed))]).toEqual([true, false])
    const { header: another } = await sign(undefined, 'order-0000000000000001')
    expect(await (await present(another)).json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
    const { payload } = await sign()
    const short = { 'payment-identifier': { info: { required: false, id: 'order-1' } } }
    expect(await (await present(encode({ ...payload, extensions: short }))).json()).toMatchObject({
      code: 'INVALID_REQUEST',
    })
  })

  test('needs no wallet header on the own path when it pays', async () => {
    const { header } = await sign()
    expect((await present(header, qrOrder.path)).status).toBe(200)
  })
})

const isReplay = ({ headers }: Response) => headers.get('idempotent-replay') === 'true'

describe('I1 one payment', () => {
  test('presented again gets its answer for two minutes, and is then a duplicate without an offer to pay again', async () => {
    const { header } = await sign()
    const first = await present(header)
    const repeat = await present(header)
    expect([first.status, repeat.status, isReplay(repeat)]).toEqual([200, 200, true])
    expect(await repeat.json()).toEqual(await first.json())
    const responses = [first, repeat].map(({ headers }) => headers.get('payment-response'))
    expect(responses[1]).toBe(responses[0])

    await endRepeats(x402.service.database.adminUrl)
    const again = await present(header)
    expect(again.status).toBe(402)
    expect(again.headers.get('payment-required')).toBeNull()
    const failure = decodePaymentResponseHeader(again.headers.get('payment-response') ?? '')
    expect(failure).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
  })

  test('raced by x402 and by the native rail is served once', async () => {
    const { header } = await sign()
    const first = present(header)
    const replies = await Promise.all(Array.from({ length: 12 }, () => present(header)))
    const answers = [await first, ...replies]
    const { receipt } = saleBody.parse(
      await assertPresent(
        answers.find(({ status }) => status === 200),
        'one is served',
      ).json(),
    )
    const { secret } = offer.shape.accepts.parse([decoded(header).accepted])[0].extra
    const proof = encode({ signature: receipt.signature, secret })
    expect(answers.filter((answer) => answer.status === 200 && !isReplay(answer))).toHaveLength(1)
    expect(answers.filter(({ status }) => ![200, 402, 409].includes(status))).toEqual([])
    // A retryable answer must not carry an offer: a stock client would pay again.
    for (const { status, headers } of answers) if (status === 409) expect(headers.get('payment-required')).toBeNull()
    const byNative = await ask(x402.native, { ...qrOrder, proof })
    expect(byNative.status === 402 || byNative.headers.get('idempotent-replay') === 'true').toBe(true)
  })

  test('seen on chain buys nothing without the secret of its offer', async () => {
    const { header, payload } = await sign()
    expect((await present(header)).status).toBe(200)
    const accepted = offer.shape.accepts.parse([payload['accepted']])[0]
    const stolen = { ...payload, accepted: { ...accepted, extra: { ...accepted.extra, secret: 'A'.repeat(22) } } }
    const response = await present(encode(stolen))
    expect(response.status).toBe(402)
    expect(await response.json()).toMatchObject({ reason: 'secret_mismatch' })
  })
})

describe('a payment that is not one', () => {
  type Payload = Awaited<ReturnType<typeof sign>>['payload']
  const withAccepted = (payload: Payload, change: object) =>
    encode({ ...payload, accepted: { ...z.looseObject({}).parse(payload['accepted']), ...change } })
  const transactionOf = (payload: Payload) =>
    Buffer.from(z.object({ transaction: z.string() }).parse(payload['payload']).transaction, 'base64')
  const withTransaction = (payload: Payload, change: (bytes: Buffer) => Buffer) =>
    encode({ ...payload, payload: { transaction: change(transactionOf(payload)).toString('base64') } })
  const flip = (bytes: Buffer) => Buffer.from(bytes.with(bytes.length - 3, bytes.at(-3) === 1 ? 2 : 1))

  const cases: readonly (readonly [string, (payload: Payload) => string, string])[] = [
    ['text', () => 'pay', 'invalid_payload'],
    ['base64url', () => 'eyJ4-_-_', 'invalid_payload'],
    ['another version', (payload) => encode({ ...payload, x402Version: 1 }), 'invalid_payload'],
    ['no transaction', (payload) => encode({ ...payload, payload: {} }), 'invalid_payload'],
    ['no echo of the offer', (payload) => encode({ ...payload, accepted: undefined }), 'invalid_payload'],
    ['another scheme', (payload) => withAccepted(payload, { scheme: 'upto' }), 'invalid_exact_svm_unsupported_scheme'],
    [
      'another network',
      (payload) => withAccepted(payload, { network: 'solana:x' }),
      'invalid_exact_svm_network_mismatch',
    ],
    ['another asset', (payload) => withAccepted(payload, { asset: 'x' }), 'invalid_exact_svm_payload_mint_mismatch'],
    [
      'another payee',
      (payload) => withAccepted(payload, { payTo: 'x' }),
      'invalid_exact_svm_payload_recipient_mismatch',
    ],
    [
      'half a transaction',
      (payload) => withTransaction(payload, (bytes) => bytes.subarray(0, 100)),
      'invalid_exact_svm_payload_transaction_could_not_be_decoded',
    ],
    ['another memo', (payload) => withTransaction(payload, flip), 'invalid_exact_svm_payload_signature_invalid'],
  ]

  test.each(cases)('%s is refused with a new offer', async (_name, spoil, x402Error) => {
    const { payload } = await sign()
    const response = await present(spoil(payload))
    expect(response.status).toBe(402)
    expect(offerOf(response.headers).error).toBe(x402Error)
  })

  test('a wallet without tokens is refused before anything is signed', async () => {
    const { header } = await sign(Keypair.generate())
    const response = await present(header)
    expect(response.status).toBe(402)
    expect(offerOf(response.headers).error).toBe('insufficient_funds')
  })

  test("a delegate's payment from the token account of another wallet is refused before anything is signed", async () => {
    const { service, tokenMint, signerOptions } = x402
    const { demoWallet: owner, chain } = service
    const delegate = Keypair.generate()
    const accountOf = (wallet: Keypair) => getAssociatedTokenAddressSync(new PublicKey(tokenMint), wallet.publicKey)
    const approval = createApproveInstruction(accountOf(owner), delegate.publicKey, owner.publicKey, 10n ** 12n)
    const connection = new Connection(chain.rpcUrl, 'confirmed')
    await sendAndConfirmTransaction(connection, new Transaction().add(approval), [owner])
    const { payload } = await sign(delegate)
    const header = withTransaction(payload, (bytes) => {
      const transaction = VersionedTransaction.deserialize(bytes)
      const keys = transaction.message.staticAccountKeys
      keys[keys.findIndex((key) => key.equals(accountOf(delegate)))] = accountOf(owner)
      transaction.sign([delegate])
      return Buffer.from(transaction.serialize())
    })
    const spentBefore = await signerOptions.journal.spentToday()

    const response = await present(header)

    expect(response.status).toBe(402)
    expect(offerOf(response.headers).error).toBe('invalid_exact_svm_payload_amount_mismatch')
    expect(await signerOptions.journal.spentToday()).toBe(spentBefore)
  })
})

// More than a blockhash is valid for, with the allowance for nodes that are behind.
const expiredSlots = 1_000

test('a payment whose blockhash has expired is pending until no node could have taken it, then refused for good', async () => {
  const { header } = await sign()
  x402.service.chain.advanceSlots(expiredSlots)
  const early = await present(header)
  expect(early.status).toBe(503)
  expect(early.headers.get('payment-required')).toBeNull()
  x402.service.chain.advanceSlots(expiredSlots)
  const late = await awaitThat('the payment is refused', async () => {
    const response = await present(header)
    return response.status === 503 ? undefined : response
  })
  expect(late.status).toBe(402)
  expect(offerOf(late.headers).error).toBe('invalid_exact_svm_transaction_failed')
  expect(await late.json()).toMatchObject({ reason: 'blockhash_expired' })
})

// A block is final after 32 others.
const finalSlots = 40

test('the ledger owes the burns, calls none of them confirmed, and the audit agrees with the chain', async () => {
  const { service, paymentWallet } = x402
  const stats = await (await fetch(urlOf('/api/token/burn-stats'))).json()
  expect(stats).toMatchObject({ data: { total: { baseUnits: '0', payments: 0 } } })
  const owed = BigInt(
    z.object({ data: z.object({ owed: z.object({ baseUnits: z.string() }) }) }).parse(stats).data.owed.baseUnits,
  )
  expect(owed).toBeGreaterThan(0n)
  service.chain.advanceSlots(finalSlots)
  const { findings, verdicts } = await auditLedger(service.database.adminUrl, {
    rpcUrl: service.chain.rpcUrl,
    paymentWallet,
  })
  expect(findings).toEqual([])
  expect(verdicts.chainTruth.status).toBe('holds')
})

test('an unreachable signer is an unknown outcome, never a new offer', async () => {
  const { header } = await sign()
  await x402.signer.close()
  const response = await present(header)
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).not.toBeNull()
  expect(response.headers.get('payment-required')).toBeNull()
})

test('a service that starts without its signer says so in its health, and sells by the native rail', async () => {
  const env = { SIGNER_SOCKET: `${x402.env['SIGNER_SOCKET']}.none` }
  const service = await openTestService({ besides: x402.native, env })
  const health = await fetch(`${service.baseUrl}/api/health`)
  expect(health.status).toBe(200)
  const problem = 'the signer of the network fees does not answer'
  expect(await health.json()).toMatchObject({ data: { checks: { signer: { status: 'failing', problem } } } })
  const response = await ask(service, qrOrder)
  expect([response.status, response.headers.has('payment-required')]).toEqual([402, false])
})
