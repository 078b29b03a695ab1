import { expect, test } from 'vitest'
import { readWallet } from '../../../src/rails/native/readWallet.ts'
import { mint, otherWallet, wallet, terms } from '../../payment/paymentStory.ts'

function read(header: string | undefined) {
  return readWallet({ mount: undefined, header: () => header }, terms)
}

test('an address is a wallet', () => {
  expect(read(wallet)).toBe(wallet)
})

test('no header is 401 NO_WALLET and not 400', () => {
  expect(read(undefined)).toMatchObject({ code: 'NO_WALLET' })
})

test.each([
  'abc',
  'undefined',
  `${wallet}x`,
  `1${wallet}`,
  `${wallet}, ${wallet}`,
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  '11111111111111111111111111111111',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  mint,
  otherWallet,
])('%s is refused with the name of the header', (header) => {
  expect(read(header)).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field: 'x-wallet-address' }] })
})
