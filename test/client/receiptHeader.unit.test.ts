import { expect, test } from 'vitest'
import { readReceiptHeader } from '@tollbook/client/receiptHeader'

const payload = Buffer.from(JSON.stringify({ id: 'receipt_1' })).toString('base64url')

test('a receipt is read from its header, with the signature that a verifier checks', () => {
  const jws = `e30.${payload}.c2ln`
  expect(readReceiptHeader(new Headers({ 'tollbook-receipt': jws }))).toEqual({ id: 'receipt_1', jws })
})

test.each([undefined, '', 'x', 'e30..c2ln', 'e30.!.c2ln', `e30.${Buffer.from('7').toString('base64url')}.c2ln`])(
  'a header %j has none',
  (jws) => {
    expect(readReceiptHeader(new Headers(jws === undefined ? {} : { 'tollbook-receipt': jws }))).toBeUndefined()
  },
)
