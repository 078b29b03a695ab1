import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { readAddress } from '@tollbook/core/address'
import { assert, assertPresent } from '@tollbook/core/assert'
import { decodeBase58, encodeBase58 } from '@tollbook/core/base58'
import { sha256, sha256Hex } from '@tollbook/core/digest'
import { isRefusal, refuseProof } from '@tollbook/core/refusal'
import { debitMessage, requestDigestOf, tabIdOf, tabTermsHash, writeDebit } from '@tollbook/core/tab'
import type { PaymentRail, Proof } from '../../../src/paywall/rail.ts'
import { withDeposits } from '../../../src/rails/tab/depositRail.ts'
import { createTabRail } from '../../../src/rails/tab/tabRail.ts'
import { readTabProof, type TabProof } from '../../../src/rails/tab/tabProof.ts'
import { createSignatureVerifier } from '../../../src/rails/tab/verifySignature.ts'
import { messageReference, tabRequestOf } from '../../../src/payment/paymentReference.ts'
import { heldClock } from '../../jobs/jobFixture.ts'
import { mint, order, otherWallet, referenceNumber, settlementOf, wallet } from '../../payment/paymentStory.ts'
import { requestOf, type RequestFacts } from '../../paywall/requestOf.ts'
import { scriptedRail } from '../../paywall/scriptedRail.ts'

const origin = 'ledger'
const tabBytes = new Uint8Array(16).fill(1)
const tab = tabIdOf(tabBytes)
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const keyBytes = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
const sessionKey = assertPresent(readAddress(encodeBase58(keyBytes)), 'a key is an address')
const rail = createTabRail({
  clock: heldClock,
  tabs: {
    find: () => Promise.resolve(undefined),
    findAgain: () => Promise.resolve(undefined),
    spentTodayBaseUnits: () => Promise.resolve(0n),
  },
  origin,
  currentPrice: () => undefined,
  verify: createSignatureVerifier(),
})

const walletBytes = Buffer.from(assertPresent(decodeBase58(wallet, 32), 'it is an address'))
const secret = Buffer.alloc(32, 7)
const bearer = `tbt_${Buffer.concat([tabBytes, walletBytes]).toString('base64url')}${secret.toString('base64url')}`
const byKey = (headers: Readonly<Record<string, string>> = {}) => ({ authorization: `Bearer ${bearer}`, ...headers })

function read(headers: Readonly<Record<string, string>>, body?: string) {
  return readTabProof(requestOf({ headers, ...(body === undefined ? {} : { body }) }))
}

function proofOf(headers: Readonly<Record<string, string>>, body?: string): TabProof {
  const presented = read(headers, body)
  assert(!isRefusal(presented), 'the proof can be read')
  return presented.proof
}

function signedHeaders(facts: RequestFacts = {}, changes: { readonly number?: bigint } = {}) {
  const { method, target, bodyDigest } = requestOf(facts)
  const debit = { tab, number: 5n, maxBaseUnits: 900n, validUntilMs: 1_790_000_000_000, ...changes }
  const digest = requestDigestOf(method, target, bodyDigest())
  const message = debitMessage(debit, tabTermsHash({ origin, mint, sessionKey }), digest)
  const text = writeDebit({ ...debit, signature: sign(undefined, message, privateKey) })
  return { 'x-wallet-address': wallet, 'x-payment-proof': Buffer.from(text).toString('base64') }
}

test('a debit by the bearer key names its tab, its wallet, and the hash of its secret', () => {
  expect(read(byKey())).toMatchObject({
    payer: wallet,
    proof: { tab, signed: undefined, secretHash: sha256Hex(secret), maxMicroUsd: undefined },
  })
})

test('the number of a debit by the bearer key has the highest bit, and with a key it is that of tab and key', () => {
  const [first, second] = [proofOf(byKey()), proofOf(byKey())]
  expect(first.number).not.toBe(second.number)
  const keyed = proofOf(byKey({ 'idempotency-key': 'order-1' }))
  expect(proofOf(byKey({ 'idempotency-key': 'order-1' })).reference).toBe(keyed.reference)
  expect(proofOf(byKey({ 'idempotency-key': 'order-2' })).reference).not.toBe(keyed.reference)
  const otherTab = Buffer.concat([Buffer.alloc(16, 2), walletBytes]).toString('base64url')
  const otherKey = `Bearer tbt_${otherTab}${secret.toString('base64url')}`
  expect(proofOf({ authorization: otherKey, 'idempotency-key': 'order-1' }).number).not.toBe(keyed.number)
  for (const { number, reference } of [first, second, keyed]) {
    expect(number >> 63n).toBe(1n)
    expect(tabRequestOf(reference)).toEqual({ tab, number })
  }
})

test('a signed debit is read with the request as sent', () => {
  const proof = proofOf(signedHeaders({ body: '{}' }), '{}')
  expect(proof).toMatchObject({ tab, number: 5n, secretHash: undefined, signed: { maxBaseUnits: 900n } })
  expect(proof.requestDigest).toEqual(requestDigestOf('POST', '/api/tools/qrcode', sha256('{}')))
})

test.each([
  ['0.02', 20_000n],
  ['0.000001', 1n],
  ['0', undefined],
  ['-1', undefined],
  ['0.0000001', undefined],
  ['a', undefined],
])('the limit %s of a request is %s micro-dollars', (text, maxMicroUsd) => {
  const presented = read(byKey({ 'tab-max-usd': text }))
  if (maxMicroUsd === undefined) expect(presented).toMatchObject({ details: [{ field: 'tab-max-usd' }] })
  else expect(presented).toMatchObject({ proof: { maxMicroUsd } })
})

test.each([
  [{ authorization: 'Bearer tbt_short' }, 'authorization'],
  [{ ...signedHeaders(), 'x-wallet-address': 'nobody' }, 'x-wallet-address'],
])('what cannot be read is refused with its field: %j', (headers, field) => {
  expect(read(headers)).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field }] })
})

test('a second spelling of a signed debit is refused', () => {
  const headers = signedHeaders()
  const padded = `${headers['x-payment-proof'].replace(/=+$/, '')}\n`
  expect(read({ ...headers, 'x-payment-proof': padded })).toMatchObject({ reason: 'malformed_proof' })
})

test('a proof of the native rail is left to it, also with a bearer key', () => {
  const carries = (headers: Readonly<Record<string, string>>) => rail.carriesProof(requestOf({ headers }))
  expect(carries(byKey())).toBe(true)
  expect(carries(signedHeaders())).toBe(true)
  expect(carries(byKey({ 'x-payment-proof': Buffer.alloc(64).toString('base64') }))).toBe(false)
  expect(carries({ 'x-payment-proof': Buffer.from('tab1.short').toString('base64') })).toBe(false)
  expect(carries({ authorization: 'Bearer eyJ' })).toBe(false)
})

const debit = { tab, number: 5n, deposit: referenceNumber(2), lifecycle: 0, orderDigest: order.digest }

test('the answer of a debit is sent again to its bearer key only', () => {
  const settlement = settlementOf(referenceNumber(1), {
    debit: { ...debit, signed: undefined, bearerHash: sha256Hex(secret) },
  })
  expect(rail.checkHolder(proofOf(byKey()), settlement)).toBeUndefined()
  const stranger = `Bearer ${bearer.slice(0, -43)}${Buffer.alloc(32, 8).toString('base64url')}`
  expect(rail.checkHolder(proofOf({ authorization: stranger }), settlement)?.reason).toBe('tab_signature_invalid')
  expect(rail.checkHolder(proofOf(signedHeaders()), settlement)?.code).toBe('TAB_NUMBER_USED')
})

test('the answer of a signed debit is sent again for the same request, signed by the same session key', () => {
  const requestDigest = Buffer.from(proofOf(signedHeaders()).requestDigest).toString('hex')
  const signed = { sessionKey, maxBaseUnits: 900n, validUntilMs: 1, requestDigest, signature: '' }
  const settlementWith = (changes: Partial<typeof signed>) =>
    settlementOf(referenceNumber(1), { debit: { ...debit, signed: { ...signed, ...changes }, bearerHash: undefined } })
  expect(rail.checkHolder(proofOf(signedHeaders()), settlementWith({}))).toBeUndefined()
  expect(rail.checkHolder(proofOf(signedHeaders({ body: '{}' }), '{}'), settlementWith({}))?.code).toBe(
    'TAB_NUMBER_USED',
  )
  const foreign = settlementWith({ sessionKey: otherWallet })
  expect(rail.checkHolder(proofOf(signedHeaders()), foreign)?.reason).toBe('tab_signature_invalid')
  expect(rail.checkHolder(proofOf(byKey()), settlementWith({}))?.reason).toBe('tab_signature_invalid')
})

test('callers of tools send the key and the limit, and get the balance', () => {
  const { meta } = rail
  assert(meta !== undefined, 'tools can be paid from a tab')
  expect(meta.headersOf({ 'tollbook/tab-key': bearer, 'tollbook/tab-max-usd': '0.02' })).toEqual(
    byKey({ 'tab-max-usd': '0.02' }),
  )
  expect(meta.headersOf({ 'tollbook/tab-key': 1, other: 'x' })).toEqual({})
  expect(rail.respond({ endpoint: '', settlement: settlementOf(referenceNumber(1)), tabBalanceBaseUnits: 7n })).toEqual(
    {
      'tab-balance': '7',
    },
  )
  expect(meta.receiptOf({ 'tab-balance': '7' }, {})).toEqual({ 'tollbook/tab-balance': '7' })
})

test('a signature is valid for its key and message only', async () => {
  const verify = createSignatureVerifier()
  const [message, signature] = [Buffer.from('a'), sign(undefined, Buffer.from('a'), privateKey)]
  for (let n = 0; n < 2; n++) expect(await verify(sessionKey, message, signature)).toBe(true)
  expect(await verify(sessionKey, Buffer.from('b'), signature)).toBe(false)
  expect(await verify(otherWallet, message, signature)).toBe(false)
})

test('deposits are offered, settled and resumed by their own rail, and everything else by that of the goods', async () => {
  const railBy = (name: string): PaymentRail => ({
    ...scriptedRail(name),
    settle: async ({ payment }) => ({ verdict: refuseProof('not_found', name), payment }),
    resume: async (question) => ({ ...question.proof, of: name }),
    explain: async () => ({ headers: { by: name } }),
  })
  const both = withDeposits<Proof>(railBy('goods'), railBy('deposits'), '/api/tabs')
  const payment = { phase: 'unknown', version: 0 } as const
  const proof = { reference: referenceNumber(1) }
  const product = (path: string) => ({ path, method: 'POST' }) as const
  for (const [endpoint, name] of [
    ['/api/tabs', 'deposits'],
    ['/api/tabs#large', 'deposits'],
    ['/api/tabs/other', 'goods'],
  ] as const) {
    const question = { proof, order: { ...order, endpoint }, payment }
    expect((await both.settle(question)).verdict).toMatchObject({ message: expect.stringContaining(name) })
    expect(await both.resume?.(question, messageReference('ab'.repeat(32)))).toMatchObject({ of: name })
  }
  const price = { ...settlementOf(referenceNumber(1)).price, priceList: 1 }
  const offer = { id: '', request: requestOf(), payer: undefined, price, issuedAtMs: 0, expiresAtMs: 1 }
  expect(await both.challenge({ ...offer, product: product('/api/tabs') })).toMatchObject({ members: { deposits: 1 } })
  expect(await both.challenge({ ...offer, product: product('/api/x') })).toMatchObject({ members: { goods: 1 } })
  const explain = async (path?: string) => {
    const given = path === undefined ? undefined : { ...offer, product: product(path) }
    return (await both.explain?.(refuseProof('not_found'), { request: requestOf(), offer: given }))?.headers['by']
  }
  expect([await explain('/api/tabs'), await explain('/api/x'), await explain()]).toEqual(['deposits', 'goods', 'goods'])
})
