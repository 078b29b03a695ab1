import { assert } from '@tollbook/core/assert'
import { encodeEvent, schemaVersion } from '../payment/eventCodec.ts'
import type { LedgerEvent, PaymentEvent, PriceListPublished, ProofClaimed } from '../payment/events.ts'
import { evolve, type PaymentState } from '../payment/payment.ts'
import type { PaymentChange } from '../payment/paymentLedger.ts'
import { type Signature, signatureBytes } from '@tollbook/core/signature'
import { entriesOf } from '../accounting/posting.ts'
import { postingsOf } from '../accounting/postingRules.ts'

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

/** The payment's row after the events. */
interface PaymentRow {
  readonly state: string
  readonly awaitsFinality: boolean
  /** What we would lose if the chain dropped the payment: the price of what is being, or has been, served for it. */
  readonly exposedBaseUnits: bigint
  readonly wallet: string
  readonly endpoint: string
  readonly attempt: number
  readonly leaseMs: number | undefined
  readonly quoteId: string | undefined
  readonly idempotencyKey: string | undefined
  readonly orderDigest: string | undefined
  readonly answer: string | undefined
}

export const priceStream = 'prices'

export function paymentItem(change: PaymentChange): AppendItem {
  const { signature, before, events } = change
  assert(events.length > 0, 'a change has at least one event')
  const verified = events.find((event) => event.kind === 'PaymentVerified')
  const bodies = events.map((event, index): EncodedEvent => {
    const happenedOnChain = event.kind === 'PaymentVerified' || event.kind === 'TokensBurned'
    return encode(event, {
      stream: signature,
      version: before.version + index + 1,
      effectiveAtMs: (happenedOnChain ? verified?.settlement.blockTimeMs : undefined) ?? change.nowMs,
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
  return {
    ...ownershipOf(after),
    state: after.phase,
    leaseMs: after.phase === 'claimed' ? claim?.leaseMs : undefined,
    idempotencyKey: idempotency?.key,
    orderDigest: idempotency?.orderDigest,
    answer: idempotency?.answerJson,
  }
}

type Known = Exclude<PaymentState, { phase: 'unknown' }>

function ownershipOf(after: Known) {
  const nothing = { endpoint: '', attempt: 0, awaitsFinality: false, exposedBaseUnits: 0n, quoteId: undefined }
  if (after.phase === 'submitted') return { ...nothing, wallet: after.wallet, endpoint: after.endpoint }
  if (after.phase === 'unmatched') return { ...nothing, wallet: after.wallet ?? '' }
  const { phase, settlement, attempt, endpoint, awaitsFinality } = after
  const isServed = phase === 'claimed' || phase === 'fulfilled'
  const exposedBaseUnits = awaitsFinality && isServed ? settlement.price.requiredBaseUnits : 0n
  const { wallet, quoteId } = settlement
  return { endpoint, attempt, awaitsFinality, exposedBaseUnits, wallet, quoteId }
}

// The lease is counted from the ledger's own clock in SQL, so the time given here does not matter.
function stateAfter(before: PaymentState, events: readonly PaymentEvent[]): Known {
  const after = events.reduce((state, event) => evolve(state, event, 0), before)
  assert(after.phase !== 'unknown', 'a payment with events is known')
  return after
}

/** The arguments of `ledger.append`: columns of the items, of their events and of their entries. */
export type AppendArguments = ReturnType<typeof emptyArguments>

function emptyArguments() {
  return {
    streams: column<string>(),
    signatures: column<Buffer | null>(),
    expected_versions: column<number>(),
    states: column<string | null>(),
    awaiting: column<boolean | null>(),
    exposed: column<string | null>(),
    wallets: column<string | null>(),
    endpoints: column<string | null>(),
    attempts: column<number | null>(),
    leases_ms: column<number | null>(),
    quote_ids: column<string | null>(),
    idempotency_keys: column<string | null>(),
    order_digests: column<string | null>(),
    answers: column<string | null>(),
    event_items: column<number>(),
    event_versions: column<number>(),
    event_kinds: column<string>(),
    event_schema_versions: column<number>(),
    event_times_ms: column<number>(),
    event_starts: column<number>(),
    event_lengths: column<number>(),
    entry_events: column<number>(),
    entry_lines: column<number>(),
    entry_accounts: column<string>(),
    entry_mints: column<string>(),
    entry_amounts: column<string>(),
  }
}

function column<T>(): T[] {
  return []
}

const names = Object.keys(emptyArguments())
const parameters = [...names, 'bodies'].map((name, index) => `${name} => $${index + 1}`)

/** The same text for every batch; its parameters are the values of `appendValues`, in this order. */
export const appendCall = `select * from ledger.append(${parameters.join(', ')})`

export function appendValues(items: readonly AppendItem[]): readonly unknown[] {
  const columns = emptyArguments()
  const bodies: Buffer[] = []
  let start = 0
  for (const [index, item] of items.entries()) {
    addItem(columns, item)
    for (const encoded of item.bodies) {
      addEvent(columns, encoded, { item: index + 1, start })
      bodies.push(encoded.body)
      start += encoded.body.length
    }
  }
  return [...Object.values(columns), Buffer.concat(bodies)]
}

function addItem(columns: AppendArguments, { stream, signature, expectedVersion, row }: AppendItem): void {
  columns.streams.push(stream)
  columns.signatures.push(signature === undefined ? null : Buffer.from(signatureBytes(signature)))
  columns.expected_versions.push(expectedVersion)
  columns.states.push(row?.state ?? null)
  columns.awaiting.push(row?.awaitsFinality ?? null)
  columns.exposed.push(row?.exposedBaseUnits.toString() ?? null)
  columns.wallets.push(row?.wallet ?? null)
  columns.endpoints.push(row?.endpoint ?? null)
  columns.attempts.push(row?.attempt ?? null)
  columns.leases_ms.push(row?.leaseMs ?? null)
  columns.quote_ids.push(row?.quoteId ?? null)
  columns.idempotency_keys.push(row?.idempotencyKey ?? null)
  columns.order_digests.push(row?.orderDigest ?? null)
  columns.answers.push(row?.answer ?? null)
}

function addEvent(
  columns: AppendArguments,
  { event, version, effectiveAtMs, body }: EncodedEvent,
  { item, start }: { readonly item: number; readonly start: number },
): void {
  columns.event_items.push(item)
  columns.event_versions.push(version)
  columns.event_kinds.push(event.kind)
  columns.event_schema_versions.push(schemaVersion)
  columns.event_times_ms.push(effectiveAtMs)
  columns.event_starts.push(start)
  columns.event_lengths.push(body.length)
  const eventNumber = columns.event_items.length
  for (const [line, { account, mint, amountBaseUnits }] of entriesOf(postingsOf(event)).entries()) {
    columns.entry_events.push(eventNumber)
    columns.entry_lines.push(line)
    columns.entry_accounts.push(account)
    columns.entry_mints.push(mint)
    columns.entry_amounts.push(amountBaseUnits.toString())
  }
}
