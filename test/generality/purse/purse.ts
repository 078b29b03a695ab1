import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { Share } from '@tollbook/core/quote'
import type { Item } from '@tollbook/ledger/item'
import { type PaymentReference, streamIdOf } from '../../../src/payment/paymentReference.ts'
import { itemEvent } from '../../../src/store/paymentItem.ts'
import { purseCodec, type PurseEvent } from './purseEvents.ts'

/* The decider of purses. A request is a separate stream, so that the requests of one purse never wait for each other. */

export interface Purse {
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

export function openPurse(purse: Purse, { endpoint, depositBaseUnits, burnedBaseUnits }: Deposit): Item {
  const { mint } = purse
  return item(streamIdOf(purse.reference), 'purse.open', 0, [
    { kind: 'PurseOpened', ...moved(purse, depositBaseUnits) },
    { kind: 'TokensBurned', mint, endpoint, burnedBaseUnits },
  ])
}

/** Decided on an open purse: a purse that was closed meanwhile wins. The ledger refuses what the purse cannot pay. */
export function debitPurse(purse: Purse, number: number, priceBaseUnits: bigint): Item {
  assert(priceBaseUnits > 0n, 'a request costs something')
  const debit = item(requestId(purse, number), 'purse.debit', 0, [
    { kind: 'PurseDebited', ...moved(purse, priceBaseUnits) },
  ])
  return { ...debit, leaseMs: 60_000, guards: [{ stream: streamIdOf(purse.reference), version: openVersion }] }
}

export function fulfilRequest(purse: Purse, number: number, shares: readonly Share[]): Item {
  const attempt = { attempt: 1, attemptId: 'attempt', orderDigest: 'ab'.repeat(32), answerDigest: 'cd'.repeat(32) }
  return item(requestId(purse, number), 'purse.fulfil', 1, [
    { kind: 'RequestFulfilled', ...attempt },
    { kind: 'DistributionAllocated', mint: purse.mint, parts: shares },
  ])
}

export function creditPurse(purse: Purse, number: number, priceBaseUnits: bigint): Item {
  return item(requestId(purse, number), 'purse.credit', 1, [{ kind: 'PurseCredited', ...moved(purse, priceBaseUnits) }])
}

export function closePurse(purse: Purse, restBaseUnits: bigint): Item {
  const closed = { kind: 'PurseClosed', wallet: purse.wallet, ...moved(purse, restBaseUnits) } as const
  return item(streamIdOf(purse.reference), 'purse.close', openVersion, [closed])
}

const openVersion = 2

function moved({ reference, mint }: Purse, baseUnits: bigint) {
  return { purse: reference, mint, baseUnits }
}

/** Space 2, the first bytes of the purse and the number of the request. */
function requestId({ reference }: Purse, number: number): Uint8Array {
  const id = Buffer.alloc(25)
  id[0] = 2
  id.set(streamIdOf(reference).subarray(1, 17), 1)
  id.writeBigInt64BE(BigInt(number), 17)
  return id
}

function item(stream: Uint8Array, step: string, expectedVersion: number, events: readonly PurseEvent[]): Item {
  const name = Buffer.from(stream).toString('hex')
  const header = (index: number) => ({
    stream: name,
    version: expectedVersion + index + 1,
    effectiveAtMs: 1_795_312_000_000,
  })
  return { stream, step, expectedVersion, events: events.map((event, k) => itemEvent(purseCodec, event, header(k))) }
}
