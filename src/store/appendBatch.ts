import { assert } from '../primitives/assert.ts'
import { isoTime } from '../primitives/clock.ts'
import { encodeEvent, schemaVersion } from '../payment/eventCodec.ts'
import type { LedgerEvent, PaymentEvent, PriceListPublished, ProofClaimed } from '../payment/events.ts'
import { evolve, type PaymentState } from '../payment/payment.ts'
import type { PaymentChange } from '../payment/paymentLedger.ts'
import { type Signature, signatureBytes } from '../payment/signature.ts'
import { entriesOf } from '../ledger/posting.ts'
import { postingsOf } from '../ledger/postingRules.ts'

/** One stream's events with everything `ledger.append` needs. Encoded once: a retry sends the same bytes. */
export interface AppendItem {
  readonly stream: string
  readonly expectedVersion: number
  readonly signature: Signature | undefined
  readonly row: PaymentRow | undefined
  readonly bodies: readonly EncodedEvent[]
}

interface EncodedEvent {
  readonly event: LedgerEvent
  readonly version: number
  readonly effectiveAtMs: number
  readonly body: Buffer
}

/** The payment's row after the events; columns as `ledger.append` names them. */
interface PaymentRow {
  readonly version: number
  readonly state: string
  readonly wallet: string
  readonly endpoint: string
  readonly attempt: number
  readonly lease_ms: number | null
  readonly quote_id: string | null
  readonly idempotency_key: string | null
  readonly order_digest: string | null
  readonly answer: string | null
}

export const priceStream = 'prices'

export function paymentItem(change: PaymentChange): AppendItem {
  const { signature, before, events } = change
  assert(events.length > 0, 'a change has at least one event')
  const verified = events.find((event) => event.kind === 'PaymentVerified')
  const bodies = events.map((event, index): EncodedEvent => {
    const chainTime =
      event.kind === 'PaymentVerified' || event.kind === 'TokensBurned' ? verified?.settlement.blockTimeMs : undefined
    return encode(event, {
      stream: signature,
      version: before.version + index + 1,
      effectiveAtMs: chainTime ?? change.nowMs,
    })
  })
  return { stream: signature, signature, expectedVersion: before.version, row: rowOf(change), bodies }
}

export function priceListItem(
  event: PriceListPublished,
  { expectedVersion, nowMs }: { expectedVersion: number; nowMs: number },
): AppendItem {
  const body = encode(event, { stream: priceStream, version: expectedVersion + 1, effectiveAtMs: nowMs })
  return { stream: priceStream, signature: undefined, row: undefined, expectedVersion, bodies: [body] }
}

function encode(event: LedgerEvent, header: { stream: string; version: number; effectiveAtMs: number }): EncodedEvent {
  return {
    event,
    version: header.version,
    effectiveAtMs: header.effectiveAtMs,
    body: Buffer.from(encodeEvent(event, header), 'utf8'),
  }
}

function rowOf({ before, events, idempotency }: PaymentChange): PaymentRow {
  const after = stateAfter(before, events)
  const claim = events.findLast((event): event is ProofClaimed => event.kind === 'ProofClaimed')
  const settlement = after.phase === 'submitted' ? undefined : after.settlement
  const wallet = after.phase === 'submitted' ? after.wallet : after.settlement.wallet
  return {
    version: after.version,
    state: after.phase,
    wallet,
    endpoint: after.endpoint,
    attempt: after.phase === 'submitted' ? 0 : after.attempt,
    lease_ms: after.phase === 'claimed' ? (claim?.leaseMs ?? null) : null,
    quote_id: settlement?.quoteId ?? null,
    idempotency_key: idempotency?.key ?? null,
    order_digest: idempotency?.orderDigest ?? null,
    answer: idempotency?.answerJson ?? null,
  }
}

// The lease is counted from the ledger's own clock in SQL, so the time given here does not matter.
function stateAfter(
  before: PaymentState,
  events: readonly PaymentEvent[],
): Exclude<PaymentState, { phase: 'unknown' }> {
  const after = events.reduce((state, event) => evolve(state, event, 0), before)
  assert(after.phase !== 'unknown', 'a payment with events is known')
  return after
}

export interface AppendArguments {
  readonly batch: string
  readonly bodies: Uint8Array
}

/** The two arguments of `ledger.append`. */
export function appendArguments(items: readonly AppendItem[]): AppendArguments {
  const events: object[] = []
  const entries: object[] = []
  const bodies: Buffer[] = []
  let start = 0
  for (const [i, item] of items.entries()) {
    for (const [k, { event, version, effectiveAtMs, body }] of item.bodies.entries()) {
      const effectiveAt = isoTime(effectiveAtMs)
      events.push({
        i,
        k,
        version,
        kind: event.kind,
        schema_version: schemaVersion,
        effective_at: effectiveAt,
        start,
        length: body.length,
      })
      entries.push(...entryRows(event, i, k))
      bodies.push(body)
      start += body.length
    }
  }
  return { batch: JSON.stringify({ items: items.map(itemRow), events, entries }), bodies: Buffer.concat(bodies) }
}

function itemRow({ stream, signature, expectedVersion, row }: AppendItem, n: number) {
  const key = signature === undefined ? null : Buffer.from(signatureBytes(signature)).toString('hex')
  return { n, stream, signature: key, expected: expectedVersion, ...row }
}

function entryRows(event: LedgerEvent, i: number, k: number) {
  return entriesOf(postingsOf(event)).map(({ account, mint, amountBaseUnits }, line) => ({
    i,
    k,
    line,
    account,
    mint,
    amount: amountBaseUnits.toString(),
  }))
}
