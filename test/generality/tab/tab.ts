import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { Share } from '@tollbook/core/quote'
import type { Item } from '@tollbook/ledger/item'
import { type PaymentReference, streamIdOf } from '../../../src/payment/paymentReference.ts'
import { itemEvent } from '../../../src/store/paymentItem.ts'
import { tabCodec, type TabEvent } from './tabEvents.ts'

/* The decider of tabs. A request is a separate stream, so that the requests of one tab never wait for each other. */

export interface Tab {
  /** The deposit's signature: it cannot also be a payment. */
  readonly reference: PaymentReference
  readonly wallet: Address
  readonly mint: Address
}

export interface Deposit {
  readonly endpoint: string
  readonly depositBaseUnits: bigint
  readonly burnedBaseUnits: bigint
}

export function openTab(tab: Tab, { endpoint, depositBaseUnits, burnedBaseUnits }: Deposit): Item {
  const { mint } = tab
  return item(streamIdOf(tab.reference), 'tab.open', 0, [
    { kind: 'TabOpened', ...moved(tab, depositBaseUnits) },
    { kind: 'TokensBurned', mint, endpoint, burnedBaseUnits },
  ])
}

/** Decided on an open tab: a tab that was closed meanwhile wins. The ledger refuses what the tab cannot pay. */
export function debitTab(tab: Tab, number: number, priceBaseUnits: bigint): Item {
  assert(priceBaseUnits > 0n, 'a request costs something')
  const debit = item(requestId(tab, number), 'tab.debit', 0, [{ kind: 'TabDebited', ...moved(tab, priceBaseUnits) }])
  return { ...debit, leaseMs: 60_000, guards: [{ stream: streamIdOf(tab.reference), version: openVersion }] }
}

export function fulfilRequest(tab: Tab, number: number, shares: readonly Share[]): Item {
  const attempt = { attempt: 1, attemptId: 'attempt', orderDigest: 'ab'.repeat(32), answerDigest: 'cd'.repeat(32) }
  return item(requestId(tab, number), 'tab.fulfil', 1, [
    { kind: 'RequestFulfilled', ...attempt },
    { kind: 'DistributionAllocated', mint: tab.mint, parts: shares },
  ])
}

export function creditTab(tab: Tab, number: number, priceBaseUnits: bigint): Item {
  return item(requestId(tab, number), 'tab.credit', 1, [{ kind: 'TabCredited', ...moved(tab, priceBaseUnits) }])
}

export function closeTab(tab: Tab, restBaseUnits: bigint): Item {
  const closed = { kind: 'TabClosed', wallet: tab.wallet, ...moved(tab, restBaseUnits) } as const
  return item(streamIdOf(tab.reference), 'tab.close', openVersion, [closed])
}

const openVersion = 2

function moved({ reference, mint }: Tab, baseUnits: bigint) {
  return { tab: reference, mint, baseUnits }
}

/** Space 2, the first bytes of the tab and the number of the request. */
function requestId({ reference }: Tab, number: number): Uint8Array {
  const id = Buffer.alloc(25)
  id[0] = 2
  id.set(streamIdOf(reference).subarray(1, 17), 1)
  id.writeBigInt64BE(BigInt(number), 17)
  return id
}

function item(stream: Uint8Array, step: string, expectedVersion: number, events: readonly TabEvent[]): Item {
  const name = Buffer.from(stream).toString('hex')
  const header = (index: number) => ({
    stream: name,
    version: expectedVersion + index + 1,
    effectiveAtMs: 1_795_312_000_000,
  })
  return { stream, step, expectedVersion, events: events.map((event, k) => itemEvent(tabCodec, event, header(k))) }
}
