import { expect, test } from 'vitest'
import { ownLocal } from '@tollbook/client/command/payOrder'
import { quoteRequestInit, readRequest } from '@tollbook/client/payableRequest'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { createPayingFetch } from '@tollbook/client/payingFetch'
import { openScene } from './support/payerScene.ts'
import { mint } from './support/testToken.ts'

const token = mint.toBase58()
const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const usd = { usd: '1' }

test.each<[string, Partial<PayingFetchOptions>, string]>([
  [
    'a limit without dollars for dollars',
    { dollarMints: [usdc], spendingLimit: { perRequest: usd, perDay: { baseUnits: 1n } }, expectedMint: token },
    'in usd too',
  ],
  ['a dollar that is not an address', { dollarMints: ['usdc'] }, 'dollarMints has usdc, which is not an address'],
  ['one mint as token and as dollar', { dollarMints: 'circle', expectedMint: usdc }, 'name each mint once'],
  [
    'another protocol and limits in dollars only',
    { protocols: ['mpp'], expectedMint: token },
    'baseUnits too, or usdPerToken',
  ],
  [
    'another protocol and one limit in dollars only',
    { protocols: ['mpp'], expectedMint: token, spendingLimit: { perRequest: { baseUnits: 1n }, total: usd } },
    'baseUnits too, or usdPerToken',
  ],
  ['a value of an unnamed token', { usdPerToken: '1', dollarMints: 'circle' }, 'give expectedMint too'],
  [
    'base units of an unnamed token',
    { dollarMints: 'circle', spendingLimit: { perRequest: { ...usd, baseUnits: 1n } } },
    'give expectedMint too',
  ],
  ['a token without value', { usdPerToken: '0', expectedMint: token }, "not '0'"],
  [
    'a wallet that is not an address',
    { wallet: { address: 'me', signTransaction: (bytes) => Promise.resolve(bytes) } },
    'me is not a wallet address',
  ],
  ['no limit per request', { spendingLimit: JSON.parse('{}') }, 'spendingLimit needs perRequest'],
  ['a mistyped limit', { spendingLimit: JSON.parse('{"perRequest":{"usd":"1"},"perday":{}}') }, 'has perday'],
  ['a mistyped unit', { spendingLimit: JSON.parse('{"perRequest":{"usd":"1","baseunits":1}}') }, 'not baseunits'],
  ['a node without a scheme', { rpcUrl: 'localhost:8899' }, 'localhost:8899 is not a URL that begins with https://'],
  ['a node with a password', { rpcUrl: 'https://u:secret@a.example' }, 'the URL of a.example must have no user name'],
  [
    'a deposit to an unnamed wallet',
    { expectedPaymentWallet: token, tab: { depositUsd: 1 }, spendingLimit: { perRequest: usd, total: usd } },
    'give tab.expectedWallet too',
  ],
])('%s is refused at once', async (_name, options, message) => {
  await expect(openScene(options)).rejects.toThrow(message)
})

test('without a mint a service could ask for any token of the wallet, so it is refused', async () => {
  const { wallet, service } = await openScene()
  const options = { wallet, rpcUrl: service.rpcUrl, spendingLimit: { perRequest: usd } }
  expect(() => createPayingFetch(options)).toThrow('give expectedMint or dollarMints')
})

test('dollars alone need no limit in base units', async () => {
  const options = { protocols: ['x402'], dollarMints: 'circle', spendingLimit: { perRequest: usd } } as const
  expect((await openScene(options)).wallet.signed).toBe(0)
})

const url = 'https://api.example/a'

test.each<[string, RequestInit, string | undefined]>([
  ['text', { method: 'POST', body: '{}' }, 'application/json'],
  ['bytes', { method: 'POST', body: new Uint8Array([1]) }, 'application/json'],
  ['no body', {}, 'application/json'],
  ['text with a type', { method: 'POST', body: '{}', headers: { 'content-type': 'text/csv' } }, 'text/csv'],
  [
    'a form',
    { method: 'POST', body: new URLSearchParams({ a: '1' }) },
    'application/x-www-form-urlencoded;charset=UTF-8',
  ],
  ['a blob', { method: 'POST', body: new Blob(['x'], { type: 'image/png' }) }, 'image/png'],
])('%s is sent with its content type, or as JSON if it has none', async (_name, init, type) => {
  const { content } = await readRequest(url, init)
  expect(new Headers(content.headers).get('content-type')).toBe(type)
})

test('wallet and key of the payer replace those of the caller, and the key of the caller identifies its order', async () => {
  const given = { 'x-wallet-address': 'other', 'Idempotency-Key': 'mine', accept: 'a/b' }
  const { content, idempotencyKey } = await readRequest(url, { headers: given })
  expect(idempotencyKey).toBe('mine')
  const headers = new Headers(quoteRequestInit(content, 'me', 'key').headers)
  expect([headers.get('x-wallet-address'), headers.get('idempotency-key'), headers.get('accept')]).toEqual([
    'me',
    'key',
    'a/b',
  ])
})

test('what local mode knows is for its own service, however its URL is written', () => {
  const local = { baseUrl: 'http://127.0.0.1:3402', tokenMint: token, paymentWallet: token }
  for (const own of ['http://127.0.0.1:3402', 'http://127.0.0.1:3402/', 'http://127.0.0.1:3402/x402'])
    expect(ownLocal(local, own)).toBe(local)
  for (const other of ['http://127.0.0.1:3403', 'https://127.0.0.1:3402', 'no URL'])
    expect(ownLocal(local, other)).toBeUndefined()
})
