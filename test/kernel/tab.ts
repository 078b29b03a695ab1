import { event, mint, move } from './sampleItems.ts'
import { randomBytesOf } from '@tollbook/core/id'
import type { Item } from '@tollbook/ledger/item'

/*
 * A prepaid tab: the smallest kind that needs limits, guards and streams that share an account. It shows that a kind is
 * rows: nothing of the ledger is edited for it.
 */
export const tabDeclaration = `
insert into ledger.kinds (kind, space, id_bytes) values
  ('tab', 1, 64),
  ('request', 2, 24)
on conflict (kind) do nothing;
insert into ledger.classes (class, prefix, is_exact, floor, ceiling, hourly) values
  ('prepaid', 'Liabilities:Prepaid:', false, null, 0, false)
on conflict (class) do nothing;
insert into ledger.steps (step, kind, from_state, to_state, event_kinds, lease, after_lease, moves) values
  ('tab.open', 'tab', '', 'open', '{TabOpened}', 'none', false, '{wallet>prepaid}'),
  ('tab.close', 'tab', 'open', 'closed', '{TabClosed}', 'none', false, '{prepaid>refund}'),
  ('request.claim', 'request', '', 'claimed', '{TabDebited}', 'take', false, '{prepaid>unearned}'),
  ('request.claim', 'request', 'claimed', 'claimed', '{RequestFailed,TabDebited}', 'take', true, '{}'),
  ('request.fulfil', 'request', 'claimed', 'fulfilled', '{RequestFulfilled,DistributionAllocated}', 'none', false, '{unearned>share}'),
  ('request.release', 'request', 'claimed', 'released', '{TabCredited}', 'none', false, '{unearned>prepaid}')
on conflict (step, from_state, event_kinds) do nothing;
`

export function tabAccount(tab: Uint8Array): string {
  return `Liabilities:Prepaid:${Buffer.from(tab.subarray(1, 9)).toString('hex')}`
}

/** A request on a tab: its number makes it single-use, and its first bytes are the tab's. */
export function requestId(tab: Uint8Array, number: number): Uint8Array {
  const id = Buffer.alloc(25)
  id[0] = 2
  id.set(tab.subarray(1, 17), 1)
  id.writeBigInt64BE(BigInt(number), 17)
  return id
}

export interface Deposit {
  readonly deposit: bigint
  readonly of?: string
}

export function openTab(stream: Uint8Array, { deposit, of = mint }: Deposit): Item {
  const arrived = move('Assets:PaymentWallet', tabAccount(stream), deposit, of)
  return { stream, step: 'tab.open', expectedVersion: 0, events: [event('TabOpened', arrived)] }
}

export function closeTab(stream: Uint8Array, { deposit: rest, of = mint }: Deposit): Item {
  const refund = rest > 0n ? [move(tabAccount(stream), 'Liabilities:RefundsDue:payer', rest, of)] : []
  return { stream, step: 'tab.close', expectedVersion: 1, events: [event('TabClosed', ...refund)] }
}

export interface Debit {
  readonly number: number
  readonly price: bigint
  readonly of?: string
  /** Version of the tab that the debit was decided on. */
  readonly tabVersion?: number
}

const leaseMs = 60_000

export function debitTab(tab: Uint8Array, { number, price, of = mint, tabVersion = 1 }: Debit): Item {
  return {
    stream: requestId(tab, number),
    step: 'request.claim',
    expectedVersion: 0,
    leaseMs,
    events: [event('TabDebited', move(tabAccount(tab), 'Liabilities:Unearned', price, of))],
    guards: [{ stream: tab, version: tabVersion }],
  }
}

export function creditTab(tab: Uint8Array, { number, price, of = mint }: Debit): Item {
  const back = move('Liabilities:Unearned', tabAccount(tab), price, of)
  return {
    stream: requestId(tab, number),
    step: 'request.release',
    expectedVersion: 1,
    events: [event('TabCredited', back)],
  }
}

export function newTab(): Uint8Array {
  return Uint8Array.of(1, ...randomBytesOf(64))
}
