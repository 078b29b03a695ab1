import { expect, test } from 'vitest'
import { readPayload } from '../../../src/rails/x402/wire.ts'

const extra = { feePayer: 'payer', secret: 'A'.repeat(22), priceList: 1 }
const accepted = { scheme: 'exact', network: 'solana:x', amount: '1', asset: 'mint', payTo: 'wallet', extra }
const payment = { x402Version: 2, accepted, payload: { transaction: 'AAAA' } }
const read = (content: object) => readPayload(Buffer.from(JSON.stringify(content)).toString('base64'))

test('a payment needs no extensions', () => {
  expect(read(payment)).toEqual(payment)
})

test('extensions of any form do not make a payment illegible', () => {
  for (const extensions of [null, 'x', [], { 'payment-identifier': 7 }])
    expect(read({ ...payment, extensions })).toEqual({ ...payment, extensions })
})

test.each([0, 1.5, 10 ** 9, 2 ** 31, 2 ** 53 - 1, 2 ** 60, '1'])(
  'a payment cannot name the price list %s',
  (priceList) => {
    expect(read({ ...payment, accepted: { ...accepted, extra: { ...extra, priceList } } })).toBeUndefined()
  },
)

test.each(['', 'A'.repeat(21), 'A'.repeat(23), `${'A'.repeat(21)}+`])('a secret is not %j', (secret) => {
  expect(read({ ...payment, accepted: { ...accepted, extra: { ...extra, secret } } })).toBeUndefined()
})
