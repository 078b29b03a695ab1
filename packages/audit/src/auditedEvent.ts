import { BodyReader, UnreadableBody } from './bodyReader.ts'
import { type AuditedPrice, readPrice } from './auditedPrice.ts'
import { readUtcTime } from './utcTime.ts'

/*
 * The events of the book as an auditor reads them, from docs/ledger.md and not from the code that writes them. Keys stand
 * in the order of RFC 8785, and a reader takes exactly what is listed.
 */

interface Common {
  readonly stream: string
  readonly version: number
  readonly effectiveAtMs: number
  readonly schemaVersion: number
}

export interface AuditedSettlement {
  readonly signature: string
  readonly wallet: string
  readonly price: AuditedPrice
  readonly quoteId: string | undefined
  readonly memo: string | undefined
  readonly burnedBaseUnits: bigint
  readonly receivedBaseUnits: bigint
  readonly slot: number
  readonly blockTimeMs: number
  readonly transactionBase64: string | undefined
}

export type PaymentEvent = Common &
  (
    | {
        readonly kind: 'PaymentSubmitted'
        readonly wallet: string
        readonly endpoint: string
        readonly transactionBase64: string
      }
    | { readonly kind: 'PaymentVerified'; readonly settlement: AuditedSettlement }
    | {
        readonly kind: 'TokensBurned'
        readonly mint: string
        readonly endpoint: string
        readonly burnedBaseUnits: bigint
      }
    | {
        readonly kind: 'ProofClaimed'
        readonly attempt: number
        readonly attemptId: string
        readonly wallet: string
        readonly endpoint: string
        readonly orderDigest: string
        readonly leaseMs: number
      }
    | {
        readonly kind: 'RequestFulfilled'
        readonly attempt: number
        readonly attemptId: string
        readonly orderDigest: string
      }
    | {
        readonly kind: 'DistributionAllocated'
        readonly mint: string
        readonly providerBaseUnits: bigint
        readonly holdersBaseUnits: bigint
        readonly treasuryBaseUnits: bigint
      }
    | { readonly kind: 'RequestFailed'; readonly attempt: number; readonly attemptId: string; readonly reason: string }
    | { readonly kind: 'PaymentFinalized'; readonly slot: number }
    | ({ readonly kind: 'PaymentReversed' } & Reversal)
    | {
        readonly kind: 'RefundDue'
        readonly wallet: string
        readonly mint: string
        readonly refundBaseUnits: bigint
      }
    | {
        readonly kind: 'TransferReceived'
        /** Undefined where nobody sent it: it was minted to us. */
        readonly wallet: string | undefined
        readonly mint: string
        readonly receivedBaseUnits: bigint
        readonly slot: number
      }
  )

export interface Reversal {
  readonly wallet: string
  readonly mint: string
  readonly endpoint: string
  readonly unearnedBaseUnits: bigint
  readonly lostBaseUnits: bigint
  readonly overpaidBaseUnits: bigint
  readonly burnedBaseUnits: bigint
}

export type PriceListEvent = Common & { readonly kind: 'PriceListPublished'; readonly prices: readonly AuditedPrice[] }

export type PayoutEvent = Common & {
  readonly kind: 'DistributionPaid'
  readonly signature: string
  readonly planId: string
  readonly part: number
  readonly mint: string
  readonly slot: number
  readonly payments: readonly { readonly account: string; readonly wallet: string; readonly paidBaseUnits: bigint }[]
}

export type AuditedEvent = PaymentEvent | PriceListEvent | PayoutEvent

export type EventOf<K extends AuditedEvent['kind']> = Extract<AuditedEvent, { kind: K }>

/** `latin1`: the body's bytes, one character each. Throws `UnreadableBody`. */
export function readEvent(latin1: string): AuditedEvent {
  // Inside a string a quote is escaped, so this can only be the key.
  const kindAt = latin1.indexOf(kindKey) + kindKey.length
  const read = readers.get(latin1.slice(kindAt, latin1.indexOf('"', kindAt)))
  if (read === undefined) throw new UnreadableBody('the kind is none that this auditor knows')
  const reader = new BodyReader(latin1)
  const event = read(reader)
  reader.literal('}')
  reader.end()
  if (event.schemaVersion !== 1) throw new UnreadableBody(`schema version ${event.schemaVersion} is not known`)
  return event
}

const kindKey = '"kind":"'

const readers: ReadonlyMap<string, (reader: BodyReader) => AuditedEvent> = new Map<
  string,
  (reader: BodyReader) => AuditedEvent
>([
  ['PaymentSubmitted', submitted],
  ['PaymentVerified', verified],
  ['TokensBurned', burned],
  ['ProofClaimed', claimed],
  ['RequestFulfilled', fulfilled],
  ['DistributionAllocated', distributed],
  ['RequestFailed', failed],
  ['PaymentFinalized', finalized],
  ['PaymentReversed', reversed],
  ['RefundDue', refundDue],
  ['TransferReceived', transferReceived],
  ['DistributionPaid', paidOut],
  ['PriceListPublished', published],
])

function submitted(reader: BodyReader): EventOf<'PaymentSubmitted'> {
  const effectiveAtMs = timeOf(reader, '{"effectiveAt":')
  const endpoint = reader.string(',"endpoint":')
  reader.optionalString(',"kind":"PaymentSubmitted","quoteId":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const stream = reader.plain(',"stream":')
  const transactionBase64 = reader.plain(',"transactionBase64":')
  const version = reader.integer(',"version":')
  const wallet = reader.plain(',"wallet":')
  return {
    kind: 'PaymentSubmitted',
    stream,
    version,
    effectiveAtMs,
    schemaVersion,
    wallet,
    endpoint,
    transactionBase64,
  }
}

function verified(reader: BodyReader): EventOf<'PaymentVerified'> {
  const effectiveAtMs = timeOf(reader, '{"effectiveAt":')
  reader.literal(',"kind":"PaymentVerified"')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const blockTimeMs = reader.integer(',"settlement":{"blockTimeMs":')
  const burnedBaseUnits = reader.amount(',"burnedBaseUnits":')
  const memo = reader.optionalString(',"memo":')
  reader.literal(',"price":')
  const price = readPrice(reader)
  const quoteId = reader.optionalString(',"quoteId":')
  const receivedBaseUnits = reader.amount(',"receivedBaseUnits":')
  const signature = reader.plain(',"signature":')
  const slot = reader.integer(',"slot":')
  reader.literal(',"transactionBase64":')
  const transactionBase64 = reader.takes('null') ? undefined : reader.plain('')
  const wallet = reader.plain(',"wallet":')
  const stream = reader.plain('},"stream":')
  const version = reader.integer(',"version":')
  const settlement = {
    signature,
    wallet,
    price,
    quoteId,
    memo,
    burnedBaseUnits,
    receivedBaseUnits,
    slot,
    blockTimeMs,
    transactionBase64,
  }
  return { kind: 'PaymentVerified', stream, version, effectiveAtMs, schemaVersion, settlement }
}

function burned(reader: BodyReader): EventOf<'TokensBurned'> {
  const burnedBaseUnits = reader.amount('{"burnedBaseUnits":')
  const effectiveAtMs = timeOf(reader, ',"effectiveAt":')
  const endpoint = reader.string(',"endpoint":')
  const mint = reader.plain(',"kind":"TokensBurned","mint":')
  const { schemaVersion, stream, version } = tailOf(reader)
  return { kind: 'TokensBurned', stream, version, effectiveAtMs, schemaVersion, mint, endpoint, burnedBaseUnits }
}

function claimed(reader: BodyReader): EventOf<'ProofClaimed'> {
  const attempt = reader.integer('{"attempt":')
  const attemptId = reader.string(',"attemptId":')
  const effectiveAtMs = timeOf(reader, ',"effectiveAt":')
  const endpoint = reader.string(',"endpoint":')
  const leaseMs = reader.integer(',"kind":"ProofClaimed","leaseMs":')
  const orderDigest = reader.plain(',"orderDigest":')
  const { schemaVersion, stream, version } = tailOf(reader)
  const wallet = reader.plain(',"wallet":')
  const claim = { attempt, attemptId, wallet, endpoint, orderDigest, leaseMs }
  return { kind: 'ProofClaimed', stream, version, effectiveAtMs, schemaVersion, ...claim }
}

function fulfilled(reader: BodyReader): EventOf<'RequestFulfilled'> {
  reader.plain('{"answerDigest":')
  const attempt = reader.integer(',"attempt":')
  const attemptId = reader.string(',"attemptId":')
  const effectiveAtMs = timeOf(reader, ',"effectiveAt":')
  const orderDigest = reader.plain(',"kind":"RequestFulfilled","orderDigest":')
  const { schemaVersion, stream, version } = tailOf(reader)
  return { kind: 'RequestFulfilled', stream, version, effectiveAtMs, schemaVersion, attempt, attemptId, orderDigest }
}

function distributed(reader: BodyReader): EventOf<'DistributionAllocated'> {
  const effectiveAtMs = timeOf(reader, '{"effectiveAt":')
  const holdersBaseUnits = reader.amount(',"holdersBaseUnits":')
  const mint = reader.plain(',"kind":"DistributionAllocated","mint":')
  const providerBaseUnits = reader.amount(',"providerBaseUnits":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const stream = reader.plain(',"stream":')
  const treasuryBaseUnits = reader.amount(',"treasuryBaseUnits":')
  const version = reader.integer(',"version":')
  const shares = { mint, providerBaseUnits, holdersBaseUnits, treasuryBaseUnits }
  return { kind: 'DistributionAllocated', stream, version, effectiveAtMs, schemaVersion, ...shares }
}

function failed(reader: BodyReader): EventOf<'RequestFailed'> {
  const attempt = reader.integer('{"attempt":')
  const attemptId = reader.string(',"attemptId":')
  const effectiveAtMs = timeOf(reader, ',"effectiveAt":')
  const reason = reader.plain(',"kind":"RequestFailed","reason":')
  const { schemaVersion, stream, version } = tailOf(reader)
  return { kind: 'RequestFailed', stream, version, effectiveAtMs, schemaVersion, attempt, attemptId, reason }
}

function finalized(reader: BodyReader): EventOf<'PaymentFinalized'> {
  const effectiveAtMs = timeOf(reader, '{"effectiveAt":')
  reader.literal(',"kind":"PaymentFinalized"')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const slot = reader.integer(',"slot":')
  const stream = reader.plain(',"stream":')
  const version = reader.integer(',"version":')
  return { kind: 'PaymentFinalized', stream, version, effectiveAtMs, schemaVersion, slot }
}

function reversed(reader: BodyReader): EventOf<'PaymentReversed'> {
  const burnedBaseUnits = reader.amount('{"burnedBaseUnits":')
  const effectiveAtMs = timeOf(reader, ',"effectiveAt":')
  const endpoint = reader.string(',"endpoint":')
  reader.integer(',"finalizedSlot":')
  const lostBaseUnits = reader.amount(',"kind":"PaymentReversed","lostBaseUnits":')
  const mint = reader.plain(',"mint":')
  const overpaidBaseUnits = reader.amount(',"overpaidBaseUnits":')
  const reason = reader.plain(',"reason":')
  if (reason !== 'absent' && reason !== 'failed') throw new UnreadableBody(`no payment is reversed as ${reason}`)
  const schemaVersion = reader.integer(',"schemaVersion":')
  const stream = reader.plain(',"stream":')
  const unearnedBaseUnits = reader.amount(',"unearnedBaseUnits":')
  const version = reader.integer(',"version":')
  const wallet = reader.plain(',"wallet":')
  const reversal = { wallet, mint, endpoint, unearnedBaseUnits, lostBaseUnits, overpaidBaseUnits, burnedBaseUnits }
  return { kind: 'PaymentReversed', stream, version, effectiveAtMs, schemaVersion, ...reversal }
}

function refundDue(reader: BodyReader): EventOf<'RefundDue'> {
  const effectiveAtMs = timeOf(reader, '{"effectiveAt":')
  const mint = reader.plain(',"kind":"RefundDue","mint":')
  const refundBaseUnits = reader.amount(',"refundBaseUnits":')
  const { schemaVersion, stream, version } = tailOf(reader)
  const wallet = reader.plain(',"wallet":')
  return { kind: 'RefundDue', stream, version, effectiveAtMs, schemaVersion, wallet, mint, refundBaseUnits }
}

function transferReceived(reader: BodyReader): EventOf<'TransferReceived'> {
  const effectiveAtMs = timeOf(reader, '{"effectiveAt":')
  const mint = reader.plain(',"kind":"TransferReceived","mint":')
  const receivedBaseUnits = reader.amount(',"receivedBaseUnits":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const slot = reader.integer(',"slot":')
  const stream = reader.plain(',"stream":')
  const version = reader.integer(',"version":')
  const wallet = reader.optionalString(',"wallet":')
  const received = { wallet, mint, receivedBaseUnits, slot }
  return { kind: 'TransferReceived', stream, version, effectiveAtMs, schemaVersion, ...received }
}

function paidOut(reader: BodyReader): PayoutEvent {
  const effectiveAtMs = timeOf(reader, '{"effectiveAt":')
  const mint = reader.plain(',"kind":"DistributionPaid","mint":')
  const part = reader.integer(',"part":')
  reader.literal(',"payments":[')
  const payments = reader.list(() => {
    const account = reader.plain('{"account":')
    const paidBaseUnits = reader.amount(',"paidBaseUnits":')
    const wallet = reader.plain(',"wallet":')
    reader.literal('}')
    return { account, wallet, paidBaseUnits }
  })
  const planId = reader.string(',"planId":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const signature = reader.plain(',"signature":')
  const slot = reader.integer(',"slot":')
  const stream = reader.plain(',"stream":')
  const version = reader.integer(',"version":')
  const payout = { signature, planId, part, mint, slot, payments }
  return { kind: 'DistributionPaid', stream, version, effectiveAtMs, schemaVersion, ...payout }
}

function published(reader: BodyReader): PriceListEvent {
  const effectiveAtMs = timeOf(reader, '{"effectiveAt":')
  if (reader.takes(',"evidence":')) skipEvidence(reader)
  reader.literal(',"kind":"PriceListPublished","prices":[')
  const prices = reader.list(() => readPrice(reader))
  const schemaVersion = reader.integer(',"schemaVersion":')
  reader.string(',"source":')
  const stream = reader.plain(',"stream":')
  const version = reader.integer(',"version":')
  return { kind: 'PriceListPublished', stream, version, effectiveAtMs, schemaVersion, prices }
}

/** What the markets said moves no money: it has its one spelling, and nothing in the book follows from it. */
function skipEvidence(reader: BodyReader): void {
  reader.integer('{"agreedAtMs":')
  reader.literal(',"readings":[')
  reader.list(() => {
    reader.optionalString('{"liquidityUsd":')
    reader.string(',"source":')
    reader.string(',"tokenPriceAttoUsd":')
    reader.literal('}')
  })
  reader.literal(',"silent":[')
  reader.list(() => {
    reader.string('{"source":')
    reader.string(',"why":')
    reader.literal('}')
  })
  reader.string(',"tokenPriceAttoUsd":')
  reader.literal('}')
}

function tailOf(reader: BodyReader): { schemaVersion: number; stream: string; version: number } {
  const schemaVersion = reader.integer(',"schemaVersion":')
  const stream = reader.plain(',"stream":')
  return { schemaVersion, stream, version: reader.integer(',"version":') }
}

function timeOf(reader: BodyReader, before: string): number {
  const ms = readUtcTime(reader.plain(before))
  if (ms === undefined) throw new UnreadableBody('a time is not in its one form')
  return ms
}
