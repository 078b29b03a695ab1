import { expect, test } from 'vitest'
import type { Json } from '@tollbook/core/canonicalJson'
import { assertPresent } from '@tollbook/core/assert'
import { decodeBase58, encodeBase58 } from '@tollbook/core/base58'
import { claimed, type Fields, fulfilled, listed, price, settlement, signed, split, wallet } from './replayedLedger.ts'

/* Bodies of tabs that no service writes. The audit reports them, and ends with a verdict. */

const deposit = `solana:${signed(3)}`
const tab = '4uQeVj5tqViQh7yWWGStvk'
const terms = {
  sessionKey: wallet,
  bearerHash: null,
  maxPerRequestBaseUnits: '1',
  maxPerDayBaseUnits: '1',
  endsAtMs: 1,
}
const opened = { tab, mint: price.mint, wallet, depositBaseUnits: '5', terms }
const debited = {
  tab,
  number: '1',
  deposit,
  slot: 1,
  blockTimeMs: 1,
  wallet,
  price,
  priceList: 1,
  lifecycle: 0,
  attempt: 1,
  attemptId: 'attempt_1',
  leaseMs: 1,
  orderDigest: '',
  bearerHash: null,
  signed: { sessionKey: wallet, maxBaseUnits: '1', validUntilMs: 1, requestDigest: 'ab'.repeat(32), signature: '' },
}
const metered = [
  { endpoint: price.endpoint, inputPerMillionMicroUsd: '1', outputPerMillionMicroUsd: '1', minimumMicroUsd: '1' },
]

test.each<readonly [name: string, stream: string, kind: string, fields: Fields, found: string]>([
  ['id of a tab', deposit, 'TabOpened', { ...opened, tab: '0' }, 'body_unreadable'],
  ['long id of a tab', deposit, 'TabOpened', { ...opened, tab: 'z'.repeat(60_000) }, 'body_unreadable'],
  ['stream of a deposit', 'solana:0', 'TabOpened', opened, 'owner_differs'],
  ['number of a debit', `tab:${tab}:1`, 'TabDebited', { ...debited, number: '9'.repeat(40) }, 'body_unreadable'],
  ['session key', `tab:${tab}:1`, 'TabDebited', signedBy('0'), 'owner_differs'],
  ['short session key', `tab:${tab}:1`, 'TabDebited', signedBy('11'), 'owner_differs'],
])('a hostile %s is a finding', (_, stream, kind, fields, found) => {
  expect(listed().append(stream, [kind, fields]).codes()).toContain(found)
})

test.each([
  ['5', []],
  ['6', ['account_differs']],
])('a tab of 5 base units that is closed with a rest of %s', (restBaseUnits, codes) => {
  // A deposit of the tab that was paid, claimed and delivered.
  const prepaid = { account: 'prepaid', baseUnits: '5' }
  const ofDeposit = { endpoint: '/api/tabs', requiredBaseUnits: '5', burnBaseUnits: '0', shares: [prepaid] }
  const depositPrice = { ...price, ...ofDeposit, priceMicroUsd: '1', tokenPriceAttoUsd: String(2n * 10n ** 17n) }
  const paid = settlement({
    reference: deposit,
    price: depositPrice,
    burnedBaseUnits: '0',
    receivedBaseUnits: '5',
  })
  const claim = { ...claimed, endpoint: '/api/tabs', exposedBaseUnits: '5' }
  const id = encodeBase58(assertPresent(decodeBase58(signed(3), 64), 'a signature').slice(0, 16))
  const closed = { tab: id, mint: price.mint, wallet, restBaseUnits, by: 'wallet' }
  const ledger = listed({ prices: [price, depositPrice] })
    .append(deposit, ['PaymentVerified', paid], ['ProofClaimed', claim])
    .append(deposit, ['RequestFulfilled', fulfilled], ['TabOpened', { ...opened, tab: id }])
    .append(`tab:${id}`, ['TabClosed', closed])
  expect(ledger.codes()).toEqual(codes)
})

function signedBy(sessionKey: string): Fields {
  return { ...debited, signed: { ...debited.signed, sessionKey } }
}

test.each<readonly [name: string, wrong: Readonly<Record<string, Json>>]>([
  ['requires nothing', { requiredBaseUnits: '0', burnBaseUnits: '0', shares: [] }],
  ['has a token price of nothing', { tokenPriceAttoUsd: '0' }],
  ['has a billion decimals', { decimals: 1_000_000_000 }],
])('a hold by use at a listed price that %s is a finding', (_, wrong) => {
  const listedPrice = { ...price, ...wrong }
  const ledger = listed({ prices: [listedPrice], metered, split })
  const held = { ...debited, price: { ...listedPrice, priceMicroUsd: '1' } }
  expect(ledger.append(`tab:${tab}:1`, ['TabDebited', held]).codes()).toContain('price_not_published')
})
