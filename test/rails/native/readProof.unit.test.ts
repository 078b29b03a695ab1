import { Keypair, SystemProgram, Transaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import { readTransaction } from '../../../src/chain/transactionBytes.ts'
import { isRefusal } from '@tollbook/core/refusal'
import { readProof } from '../../../src/rails/native/readProof.ts'

const read = (value: string) => readProof(value, { readTransaction })
const base64 = (data: string | Uint8Array) => Buffer.from(data).toString('base64')

const raw = new Uint8Array(64).fill(9)
const signature = encodeBase58(raw)
const secret = 'AAAAAAAAAAAAAAAAAAAAAA'

function signedTransaction(): Uint8Array {
  const payer = Keypair.generate()
  const transaction = new Transaction({
    feePayer: payer.publicKey,
    recentBlockhash: encodeBase58(new Uint8Array(32).fill(3)),
  })
  transaction.add(SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 }))
  transaction.sign(payer)
  return transaction.serialize()
}

describe('a legal proof', () => {
  test.each([
    ['the base58 text of a signature', base64(signature), undefined],
    ['the 64 bytes of a signature', base64(raw), undefined],
    ['a signature with a secret', base64(JSON.stringify({ signature, secret })), secret],
  ])('is %s, and has the same key in each of them', (_name, value, expectedSecret) => {
    expect(read(value)).toEqual({
      reference: `solana:${signature}`,
      signature,
      secret: expectedSecret,
      transaction: undefined,
    })
  })

  test('may be a signature that starts with the byte of an opening brace', () => {
    const bytes = Uint8Array.of(0x7b, ...raw.subarray(1))
    expect(read(base64(bytes))).toMatchObject({ signature: encodeBase58(bytes) })
  })

  test('is a signed transaction, alone or with a secret, and its key is the first signature', () => {
    const bytes = signedTransaction()
    const key = encodeBase58(bytes.subarray(1, 65))
    expect(read(base64(bytes))).toMatchObject({ signature: key, secret: undefined })
    expect(read(base64(JSON.stringify({ transaction: base64(bytes), secret })))).toMatchObject({
      signature: key,
      secret,
    })
  })

  test('of the largest size is read, and a byte more is not', () => {
    const most = base64(JSON.stringify({ transaction: base64(new Uint8Array(1_232)), secret }))
    expect(most.length).toBeLessThan(4_096)
    expect(read('A'.repeat(4_100))).toMatchObject({ reason: 'malformed_proof' })
  })
})

describe('I1 a second spelling of the same bytes is refused, so it cannot become a second key', () => {
  test.each([
    ['without padding', base64(raw).replace(/=+$/, '')],
    ['in the URL alphabet', base64(new Uint8Array(64).fill(0xfb)).replaceAll('+', '-').replaceAll('/', '_')],
    ['with stray trailing bits', base64(raw).replace(/.(?===$)/, 'R')],
    ['with a space', `${base64(raw).slice(0, 20)} ${base64(raw).slice(20)}`],
    ['twice encoded', base64(base64(raw))],
    ['as base58 without base64', signature],
    ['as hex', Buffer.from(raw).toString('hex')],
    ['with a leading 1, which is a byte more', base64(`1${signature}`)],
    ['with a newline behind it', base64(`${signature}\n`)],
    ['as a JSON string', base64(JSON.stringify(signature))],
  ])('%s', (_name, value) => {
    expect(read(value)).toMatchObject({ code: 'INVALID_PAYMENT', reason: 'malformed_proof' })
  })
})

describe('the bound form', () => {
  test.each([
    ['a short secret', { signature, secret: 'abc' }],
    ['no secret', { signature }],
    ['a null secret', { signature, secret: null }],
    ['a third key', { signature, secret, wallet: 'x' }],
    ['both a signature and a transaction', { signature, transaction: 'AAAA', secret }],
    ['a signature that is a number', { signature: 1, secret }],
    ['a transaction that is not base64', { transaction: '****', secret }],
    ['a prototype instead of keys', JSON.parse(`{"__proto__":{"signature":"${signature}","secret":"${secret}"}}`)],
  ])('with %s is refused', (_name, value) => {
    expect(read(base64(JSON.stringify(value)))).toMatchObject({ reason: 'malformed_proof' })
  })
})

test('64 zero bytes are not a signature', () => {
  expect(read(base64(new Uint8Array(64)))).toMatchObject({ reason: 'malformed_proof' })
})

test('no text makes the reader throw, and what it reads has a 64-byte key', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.base64String({ maxLength: 400 }),
    fc.uint8Array({ maxLength: 300 }).map(base64),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const proof = read(text)
      expect(isRefusal(proof) || proof.signature.length >= 64).toBe(true)
    }),
  )
})
