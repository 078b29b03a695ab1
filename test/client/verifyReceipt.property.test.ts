import fc from 'fast-check'
import { CompactSign, importJWK } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import { type ReceiptProblem, verifyReceipt } from '@tollbook/client/verifyReceipt'
import { fulfilledAtMs, openReceiptFixture, type ReceiptFixture } from './support/testReceipt.ts'
import { rounds } from '../support/rounds.ts'

let receipts: ReceiptFixture
let other: ReceiptFixture

beforeAll(async () => {
  receipts = await openReceiptFixture()
  other = await openReceiptFixture()
})

async function problemOf(receipt: unknown, keys: unknown = receipts.keys): Promise<ReceiptProblem | 'none'> {
  const verdict = await verifyReceipt({ receipt, keys })
  return verdict.valid ? 'none' : verdict.problem
}

/** A receipt that the service really signed, whatever is in it. */
async function signAnything(fields: Record<string, unknown>, header: object = {}): Promise<object> {
  const { jws: _jws, ...content } = fields
  const payload = Buffer.from(canonicalJson(JSON.parse(JSON.stringify(content))))
  const kid = JSON.parse(Buffer.from(String(fields['jws']).split('.')[0] ?? '', 'base64url').toString()).kid as string
  const jws = await new CompactSign(payload)
    .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'tollbook-receipt', ...header })
    .sign(await importJWK(receipts.privateKey, 'EdDSA'))
  return { ...content, jws }
}

test('a receipt for any price, and for more burned than was due, verifies with the published keys and with the bare key', async () => {
  const { d: _private, ...bareKey } = receipts.privateKey
  await fc.assert(
    fc.asyncProperty(
      fc.bigInt(1n, 10n ** 15n),
      fc.bigInt(0n, 10n ** 12n),
      async (requiredBaseUnits, overburnedBaseUnits) => {
        const receipt = await receipts.sign({ requiredBaseUnits, overburnedBaseUnits })
        expect(await verifyReceipt({ receipt, keys: receipts.keys })).toEqual({ valid: true, receipt })
        expect(await problemOf(receipt, bareKey)).toBe('none')
      },
    ),
    { numRuns: rounds(50) },
  )
})

/** Every way to a leaf of the receipt. */
const paths = [
  'id',
  'wallet',
  'endpoint',
  'quoteId',
  'signature',
  'slot',
  'blockTime',
  'requiredTokens',
  'requiredBaseUnits',
  'burned',
  'issuedAt',
  'distribution',
  'distribution.provider',
  'distribution.holders',
  'distribution.treasury',
  'priceList',
  'split',
  'split.burn',
  'split.provider',
  'ledger',
  'ledger.position',
  'ledger.leafHash',
  'jws',
]

function replaceAt(receipt: Record<string, unknown>, path: string, value: unknown): Record<string, unknown> {
  const copy = structuredClone(receipt)
  const [first = '', second] = path.split('.')
  if (second === undefined) copy[first] = value
  else Object.assign(copy[first] as object, { [second]: value })
  return copy
}

test('no field of a receipt can be changed', async () => {
  const receipt = await receipts.sign()
  const anyValue = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.nat().map(String),
    fc.integer(),
    fc.constant(null),
    fc.anything(),
  )
  for (const path of paths)
    await fc.assert(
      fc.asyncProperty(anyValue, async (value) => {
        const tampered = replaceAt(receipt, path, value)
        fc.pre(JSON.stringify(tampered, safely) !== JSON.stringify(receipt, safely))
        expect(await problemOf(tampered), path).not.toBe('none')
      }),
      { numRuns: rounds(15) },
    )
})

function safely(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}

test('no character of the signature can be changed', async () => {
  const receipt = await receipts.sign()
  const jws = String(receipt['jws'])
  await fc.assert(
    fc.asyncProperty(
      fc.nat(jws.length - 1),
      fc.constantFrom('A', 'B', 'Q', 'w', 'z', '0', '9', '-', '_', '.', '='),
      async (at, character) => {
        const changed = jws.slice(0, at) + character + jws.slice(at + 1)
        fc.pre(changed !== jws && !isSameBytes(changed, jws))
        expect(await problemOf({ ...receipt, jws: changed })).not.toBe('none')
      },
    ),
    { numRuns: rounds(300) },
  )
})

/** The last character of a part has bits that mean nothing. */
function isSameBytes(one: string, other: string): boolean {
  const decode = (jws: string) =>
    jws
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString('hex'))
      .join('.')
  return decode(one) === decode(other)
}

test('whatever it is given, it answers and does not throw', async () => {
  const receipt = await receipts.sign()
  const loop: { self?: unknown } = {}
  loop.self = loop
  const deep = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error('trap')
      },
      ownKeys: () => {
        throw new Error('trap')
      },
    },
  )
  const getter = {
    get wallet() {
      throw new Error('trap')
    },
  }
  for (const hostile of [undefined, null, 1n, Symbol('s'), () => 0, loop, deep, trap, getter, new Date(Number.NaN)]) {
    expect(await problemOf(hostile)).toBe('malformed')
    expect(await verifyReceipt({ receipt, keys: hostile })).toMatchObject({ problem: 'keys_malformed' })
  }
  await fc.assert(
    fc.asyncProperty(
      fc.anything({ withBigInt: true, withNullPrototype: true, withObjectString: true }),
      async (value) => {
        expect(await problemOf(value)).toBe('malformed')
        expect(await verifyReceipt({ receipt, keys: value })).toMatchObject({ problem: 'keys_malformed' })
      },
    ),
    { numRuns: rounds(200) },
  )
})

test('a receipt of another service, or with a key that is not given, does not verify', async () => {
  const receipt = await receipts.sign()
  expect(await problemOf(receipt, other.keys)).toBe('key_unknown')
  const { keys } = other.keys as { keys: object[] }
  const [impostor] = keys
  const kid = (receipts.keys as { keys: { kid: string }[] }).keys[0]?.kid
  expect(await problemOf(receipt, { ...impostor, kid })).toBe('signature_invalid')
  expect(await problemOf(receipt, { keys: [impostor, ...(receipts.keys as { keys: object[] }).keys] })).toBe('none')
})

test('another message signed with the same key is not a receipt', async () => {
  const receipt = await receipts.sign()
  expect(await problemOf(await signAnything(receipt, { typ: 'JWT' }))).toBe('signature_invalid')
  expect(await problemOf({ ...receipt, jws: 'eyJhbGciOiJub25lIn0..' })).toBe('signature_invalid')
  const { ...fields } = await receipts.sign({ signature: String(receipt['signature']), requiredBaseUnits: 5n })
  expect(await problemOf({ ...receipt, jws: fields['jws'] })).toBe('payload_differs')
})

const wrongAmounts: [string, Record<string, unknown>][] = [
  [
    'gives the provider one base unit more',
    { distribution: { provider: '10000001', holders: '3000000', treasury: '1000000' } },
  ],
  ['burned one base unit less', { burned: '5999999' }],
  ['requires more than it distributes and burns', { requiredBaseUnits: '20000001' }],
  ['shows other tokens than base units', { requiredTokens: 21 }],
]

for (const [name, change] of wrongAmounts) {
  test(`a receipt that ${name} is found out even when the service signed it`, async () => {
    const signed = await signAnything({ ...(await receipts.sign()), ...change })
    expect(await problemOf(signed)).toBe('amounts_wrong')
  })
}

const charity = {
  distribution: { provider: '9000000', holders: '3000000', treasury: '1000000', charity: '2500000' },
  split: { burn: '22.5%', provider: '45%', holders: '15%', treasury: '5%', charity: '12.5%' },
  burned: '4500000',
}

test('a receipt of a service with another split verifies by the split that it names', async () => {
  const signed = await signAnything({ ...(await receipts.sign()), ...charity })
  expect(await problemOf(signed)).toBe('none')
  expect(await problemOf(await signAnything({ ...signed, burned: '4499999' }))).toBe('amounts_wrong')
  const expectBurn = async (burnPercent: number) =>
    verifyReceipt({ receipt: signed, keys: receipts.keys, expected: { burnPercent } })
  expect(await expectBurn(22.5)).toMatchObject({ valid: true })
  expect(await expectBurn(30)).toMatchObject({ problem: 'other_burn' })
})

test.each([
  ['burn of another split than it names', { split: { ...charity.split, burn: '22.4%', provider: '45.1%' } }],
  ['burn that is a multiple of 0.1 % of no split', { distribution: { ...charity.distribution, charity: '2520000' } }],
  [
    'amount of two accounts exchanged',
    { distribution: { ...charity.distribution, holders: '1000000', treasury: '3000000' } },
  ],
  ['split that does not add up', { split: { ...charity.split, provider: '46%' } }],
  ['account that is not in its split', { split: { burn: '22.5%', provider: '77.5%' } }],
])('a signed receipt with an %s is refused', async (_what, change) => {
  const signed = await signAnything({ ...(await receipts.sign()), ...charity, ...change })
  expect(await problemOf(signed)).toBe('amounts_wrong')
})

test('a receipt of the first release names no split: it burns 30 %, or what the caller expects', async () => {
  const old = await receipts.sign({ ofFirstRelease: true })
  expect([old['split'], old['priceList']]).toEqual([undefined, undefined])
  expect(await problemOf(old)).toBe('none')
  const { split: _split, ...other } = charity
  const signed = await signAnything({ ...old, ...other })
  expect(await problemOf(signed)).toBe('amounts_wrong')
  const expected = { burnPercent: 22.5 }
  expect(await verifyReceipt({ receipt: signed, keys: receipts.keys, expected })).toMatchObject({ valid: true })
})

const second = fulfilledAtMs / 1000

test.each([
  [{ nbf: second, exp: second + 1 }, 'none'],
  [{ nbf: second + 1 }, 'key_out_of_period'],
  [{ exp: second }, 'key_out_of_period'],
] as const)('a receipt of second 0 with a key of the period %o: %s', async (period, problem) => {
  const [key] = receipts.keys.keys
  expect(await problemOf(await receipts.sign(), { keys: [{ ...key, ...period }] })).toBe(problem)
})

test('a receipt of an earlier period is reissued by the key of this one, and names both times', async () => {
  const nowMs = fulfilledAtMs + 60_000
  const later = await openReceiptFixture(other.privateKey, { endsAtMs: 0, nowMs })
  const [first, next] = [receipts, later].map(({ keys }) => keys.keys[0])
  const keys = {
    keys: [
      { ...next, nbf: second + 30 },
      { ...first, exp: second + 30 },
    ],
  }
  const reissued = await later.sign()
  expect(reissued).toMatchObject({ issuedAt: isoTime(fulfilledAtMs), reissuedAt: isoTime(nowMs) })
  expect(await problemOf(reissued, keys)).toBe('none')
  expect(await problemOf(await receipts.sign(), keys)).toBe('none')
  const { reissuedAt: _reissuedAt, ...backdated } = reissued
  expect(await problemOf(backdated, keys)).toBe('payload_differs')
  const ended = await openReceiptFixture(other.privateKey, { endsAtMs: 0, nowMs: 0 })
  await expect(ended.sign()).rejects.toThrow('signs no receipt')
})

test('a receipt with a field of a later release verifies, and only known fields are returned', async () => {
  const signed = await signAnything({ ...(await receipts.sign()), inclusionProof: ['ab'] })
  const verdict = await verifyReceipt({ receipt: signed, keys: receipts.keys })
  expect(verdict.valid && Object.keys(verdict.receipt)).not.toContain('inclusionProof')
  expect(verdict.valid).toBe(true)
})

test('a receipt for another wallet, endpoint or payment than expected is named so', async () => {
  const receipt = await receipts.sign()
  const check = async (expected: object) => {
    const verdict = await verifyReceipt({ receipt, keys: receipts.keys, expected })
    return verdict.valid ? 'none' : verdict.problem
  }
  expect(await check({ wallet: 'somebody' })).toBe('other_wallet')
  expect(await check({ endpoint: '/api/tools/pdf' })).toBe('other_endpoint')
  expect(await check({ signature: 'another' })).toBe('other_signature')
  expect(
    await check({ wallet: receipt['wallet'], endpoint: receipt['endpoint'], signature: receipt['signature'] }),
  ).toBe('none')
})

test('a key set with an unusable key is a verdict and no throw, and its other keys still verify', async () => {
  const receipt = await receipts.sign({})
  const empty = { kty: 'OKP', crv: 'Ed25519', x: '' }
  expect(await problemOf(receipt, empty)).not.toBe('none')
  const { d: _private, ...bareKey } = receipts.privateKey
  expect(await problemOf(receipt, { keys: [empty, bareKey] })).toBe('none')
})
