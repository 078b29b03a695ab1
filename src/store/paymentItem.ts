import { assert, assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { sha256 } from '@tollbook/core/digest'
import type { Guard, Item, ItemEvent, ItemKey } from '@tollbook/ledger/item'
import { type EventCodec, type EventHeader, schemaVersion } from '../payment/eventCodec.ts'
import type { AnyEvent } from '../payment/events/eventDefinition.ts'
import { paymentCodec, type PaymentEvent } from '../payment/events.ts'
import type { PaymentState } from '../payment/payment.ts'
import type { PaymentChange, SponsoredOrder } from '../payment/paymentLedger.ts'
import { messageDigestOf, streamIdOf } from '../payment/paymentReference.ts'
import { depositKey, depositSpace, lifecycleStreamId } from './tabKeys.ts'

export function itemEvent<Event extends AnyEvent>(
  codec: EventCodec<Event>,
  event: Event,
  header: EventHeader,
): ItemEvent {
  const body = Buffer.from(codec.encode(event, header), 'utf8')
  const { effectiveAtMs } = header
  return { kind: event.kind, schemaVersion, effectiveAtMs, body, postings: codec.postingsOf(event) }
}

/** Encodes the change once, so that a retry sends the same bytes. */
export function paymentItem(change: PaymentChange): Item {
  const { reference, before, step, events, answerJson } = change
  const keys = keysOf(change)
  const guards = guardsOf(change)
  assert(events.length > 0, 'a change has at least one event')
  const leaseMs = leaseOf(change)
  return {
    stream: streamIdOf(reference),
    step,
    expectedVersion: before.version,
    events: events.map((event, index) =>
      itemEvent(paymentCodec, event, {
        stream: reference,
        version: before.version + index + 1,
        effectiveAtMs: effectiveAtMs(change, event),
      }),
    ),
    ...(leaseMs === undefined ? {} : { leaseMs }),
    ...(keys.length === 0 ? {} : { keys }),
    ...(guards.length === 0 ? {} : { guards }),
    ...(answerJson === undefined ? {} : { note: Buffer.from(answerJson, 'utf8') }),
  }
}

const ofTheChain: ReadonlySet<PaymentEvent['kind']> = new Set(['PaymentVerified', 'TokensBurned', 'BurnReversed'])

/**
 * Returns the time at which an event takes effect. For a payment, its burn and a reversal of that burn, this is the
 * time of the block. An owed burn takes effect at its delivery, as the shares do, because the month of the block may be
 * closed by then.
 */
function effectiveAtMs({ before, events, nowMs }: PaymentChange, event: PaymentEvent): number {
  if (!ofTheChain.has(event.kind)) return nowMs
  const verified = events.find((each) => each.kind === 'PaymentVerified')
  const settlement = verified?.settlement ?? settlementOf(before)
  return assertPresent(settlement, 'a burn belongs to a verified payment').evidence.blockTimeMs
}

function settlementOf(state: PaymentState) {
  return 'settlement' in state ? state.settlement : undefined
}

function leaseOf({ before, events }: PaymentChange): number | undefined {
  const last = events.at(-1)
  if (last?.kind === 'ProofClaimed' || last?.kind === 'TabDebited') return last.leaseMs
  return last?.kind === 'AnswerStarted' && before.phase === 'claimed' ? before.leaseMs : undefined
}

// Key spaces of ledger.keys. Burns use 11, deposits on tabs 14 and 15.
export const idempotencySpace = 10
export const messageSpace = 12
export const sponsoredOrderSpace = 13
const idempotencySeconds = 24 * 60 * 60

// Lifetime of a message key. A payment is served or owed back within a day, but its payer may look up the payment for
// 30 days.
const messageSeconds = 30 * 24 * 60 * 60
export const sponsoredOrderSeconds = 24 * 60 * 60

/**
 * Returns the guard of a debit: the append fails if the lifecycle of the tab has changed since the decision, for
 * example by a closing or a new key. Changes without a debit have no guard.
 */
function guardsOf({ events }: PaymentChange): readonly Guard[] {
  const debited = events.find((event) => event.kind === 'TabDebited')
  return debited === undefined ? [] : [{ stream: lifecycleStreamId(debited.tab), version: debited.lifecycle }]
}

function keysOf({ reference, events, idempotency, sponsored }: PaymentChange): readonly ItemKey[] {
  const deposited = events.find((event) => event.kind === 'TabOpened' || event.kind === 'TabToppedUp')
  return [
    ...(deposited === undefined ? [] : [{ space: depositSpace, key: depositKey(deposited.tab, reference) }]),
    ...(idempotency === undefined ? [] : [idempotencyKey(idempotency)]),
    ...(sponsored === undefined ? [] : sponsoredKeys(sponsored)),
  ]
}

function sponsoredKeys({ message, ...order }: NonNullable<PaymentChange['sponsored']>): readonly ItemKey[] {
  const digest = Buffer.from(assertPresent(messageDigestOf(message), 'a message has a digest'), 'hex')
  const ofOrder = Buffer.concat([sponsoredOrderPrefix(order), digest])
  return [
    { space: messageSpace, key: digest, lifetimeSeconds: messageSeconds },
    { space: sponsoredOrderSpace, key: ofOrder, lifetimeSeconds: sponsoredOrderSeconds },
  ]
}

/** Returns the prefix that all payments for one order share, so that one range scan finds them. */
export function sponsoredOrderPrefix({ wallet, orderDigest }: SponsoredOrder): Buffer {
  return Buffer.from(sha256(`${wallet} ${orderDigest}`))
}

function idempotencyKey({ wallet, key, orderDigest }: NonNullable<PaymentChange['idempotency']>): ItemKey {
  return {
    space: idempotencySpace,
    key: idempotencyKeyBytes(wallet, key),
    digest: Buffer.from(orderDigest, 'hex'),
    lifetimeSeconds: idempotencySeconds,
  }
}

/** Includes the wallet, because two wallets may choose the same key. */
export function idempotencyKeyBytes(wallet: Address, key: string): Buffer {
  assert(key !== '', 'an idempotency key is not empty')
  return Buffer.from(`${wallet} ${key}`, 'utf8')
}

/** Views the bytes as a Buffer, because `Buffer.from(body)` would copy them. */
export function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}
