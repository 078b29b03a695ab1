import { type BodyReader, UnreadableBody } from './bodyReader.ts'
import { type EventHead, type EventReader, readTail, readTime } from './eventHead.ts'
import { type AuditedPrice, readPrice, readShares, type Share } from './priceReader.ts'

/*
 * The events of a payment as an auditor reads them, from docs/ledger.md and not from the code that writes them. Keys stand
 * in the order of RFC 8785, and a reader takes exactly what is listed.
 */

/** A settlement as the body of an event states it. */
export interface AuditedSettlement {
  /** The stream's own name. */
  readonly reference: string
  readonly wallet: string
  readonly price: AuditedPrice
  /** Number of the price list that it is a price of. */
  readonly priceList: number | undefined
  readonly quoteId: string | undefined
  readonly memo: string | undefined
  readonly burnedBaseUnits: bigint
  readonly receivedBaseUnits: bigint
  readonly evidence: SolanaEvidence
}

export interface SolanaEvidence {
  readonly slot: number
  readonly blockTimeMs: number
  readonly transactionBase64: string | undefined
}

export interface Attempt {
  readonly attempt: number
  readonly attemptId: string
}

/** The price that is exposed to a fork from this event on, or no longer is. */
export interface Exposure {
  readonly mint: string
  readonly exposedBaseUnits: bigint
}

export interface Reversal {
  readonly wallet: string
  readonly mint: string
  readonly endpoint: string
  readonly unearnedBaseUnits: bigint
  readonly lostBaseUnits: bigint
  readonly overpaidBaseUnits: bigint
  readonly burnOwedBaseUnits: bigint
}

export type PaymentEvent = EventHead &
  (
    | {
        readonly kind: 'PaymentSubmitted'
        readonly wallet: string
        readonly endpoint: string
        readonly transactionBase64: string
      }
    | { readonly kind: 'PaymentVerified'; readonly settlement: AuditedSettlement }
    | {
        readonly kind: 'TokensBurned' | 'BurnReversed'
        readonly mint: string
        readonly endpoint: string
        readonly burnedBaseUnits: bigint
      }
    | {
        readonly kind: 'BurnOwed'
        readonly mint: string
        readonly endpoint: string
        readonly owedBaseUnits: bigint
      }
    | (Attempt &
        Exposure & {
          readonly kind: 'ProofClaimed'
          readonly wallet: string
          readonly endpoint: string
          readonly orderDigest: string
          readonly leaseMs: number
        })
    | (Attempt & { readonly kind: 'AnswerStarted' })
    | (Attempt & Exposure & { readonly kind: 'AnswerBroken'; readonly bytes: number; readonly digest: string })
    | (Attempt & { readonly kind: 'RequestFulfilled'; readonly orderDigest: string })
    | { readonly kind: 'DistributionAllocated'; readonly mint: string; readonly parts: readonly Share[] }
    | (Attempt & Exposure & { readonly kind: 'RequestFailed'; readonly reason: string })
    | { readonly kind: 'AttemptsExhausted'; readonly attempts: number }
    | (Exposure & { readonly kind: 'PaymentFinalized'; readonly slot: number })
    | (Exposure & Reversal & { readonly kind: 'PaymentReversed' })
    | {
        readonly kind: 'RefundDue'
        readonly wallet: string
        readonly mint: string
        readonly refundBaseUnits: bigint
      }
    | {
        readonly kind: 'TransferReceived'
        /** Undefined where the tokens were minted to the payment wallet. */
        readonly wallet: string | undefined
        readonly mint: string
        readonly receivedBaseUnits: bigint
        readonly slot: number
      }
  )

export type PaymentEventOf<K extends PaymentEvent['kind']> = Extract<PaymentEvent, { kind: K }>

export const paymentReaders: ReadonlyMap<string, EventReader<PaymentEvent>> = new Map<
  string,
  EventReader<PaymentEvent>
>([
  ['PaymentSubmitted', readSubmitted],
  ['PaymentVerified', readVerified],
  ['TokensBurned', (reader) => readBurn(reader, 'TokensBurned')],
  ['BurnOwed', readBurnOwed],
  ['ProofClaimed', readClaimed],
  ['AnswerStarted', readStarted],
  ['AnswerBroken', readBroken],
  ['RequestFulfilled', readFulfilled],
  ['DistributionAllocated', readAllocated],
  ['RequestFailed', readFailed],
  ['AttemptsExhausted', readExhausted],
  ['PaymentFinalized', readFinalized],
  ['PaymentReversed', readReversed],
  ['BurnReversed', (reader) => readBurn(reader, 'BurnReversed')],
  ['RefundDue', readRefundDue],
  ['TransferReceived', readReceived],
])

export function isPaymentEvent(event: { readonly kind: string }): event is PaymentEvent {
  return paymentReaders.has(event.kind)
}

function readSubmitted(reader: BodyReader): PaymentEventOf<'PaymentSubmitted'> {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  const endpoint = reader.string(',"endpoint":')
  reader.literal(',"kind":"PaymentSubmitted"')
  // Absent on the native rail, and in the first releases.
  if (reader.takes(',"offer":{"priceList":')) {
    reader.integer('')
    reader.string(',"rail":')
    reader.literal('}')
  }
  reader.optionalString(',"quoteId":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const stream = reader.plain(',"stream":')
  const transactionBase64 = reader.plain(',"transactionBase64":')
  const version = reader.integer(',"version":')
  const wallet = reader.plain(',"wallet":')
  const head = { stream, version, effectiveAtMs, schemaVersion }
  return { kind: 'PaymentSubmitted', ...head, wallet, endpoint, transactionBase64 }
}

function readVerified(reader: BodyReader): PaymentEventOf<'PaymentVerified'> {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  reader.literal(',"kind":"PaymentVerified"')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const burnedBaseUnits = reader.amount(',"settlement":{"burnedBaseUnits":')
  const evidence = readEvidence(reader)
  const memo = reader.optionalString(',"memo":')
  reader.literal(',"price":')
  const price = readPrice(reader)
  // Absent in the first releases.
  const priceList = reader.takes(',"priceList":') ? reader.integer('') : undefined
  const quoteId = reader.optionalString(',"quoteId":')
  const receivedBaseUnits = reader.amount(',"receivedBaseUnits":')
  const reference = reader.plain(',"reference":')
  const wallet = reader.plain(',"wallet":')
  const stream = reader.plain('},"stream":')
  const version = reader.integer(',"version":')
  const settlement = {
    reference,
    wallet,
    price,
    priceList,
    quoteId,
    memo,
    burnedBaseUnits,
    receivedBaseUnits,
    evidence,
  }
  return { kind: 'PaymentVerified', stream, version, effectiveAtMs, schemaVersion, settlement }
}

/** The only kind of evidence so far. */
function readEvidence(reader: BodyReader): SolanaEvidence {
  const blockTimeMs = reader.integer(',"evidence":{"blockTimeMs":')
  reader.literal(',"kind":"solana"')
  const slot = reader.integer(',"slot":')
  reader.literal(',"transactionBase64":')
  const transactionBase64 = reader.takes('null') ? undefined : reader.plain('')
  reader.literal('}')
  return { slot, blockTimeMs, transactionBase64 }
}

function readBurn<K extends 'TokensBurned' | 'BurnReversed'>(reader: BodyReader, kind: K) {
  const burnedBaseUnits = reader.amount('{"burnedBaseUnits":')
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  const endpoint = reader.string(',"endpoint":')
  const mint = reader.plain(`,"kind":"${kind}","mint":`)
  return { kind, effectiveAtMs, ...readTail(reader), mint, endpoint, burnedBaseUnits }
}

function readBurnOwed(reader: BodyReader): PaymentEventOf<'BurnOwed'> {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  const endpoint = reader.string(',"endpoint":')
  const mint = reader.plain(',"kind":"BurnOwed","mint":')
  const owedBaseUnits = reader.amount(',"owedBaseUnits":')
  return { kind: 'BurnOwed', effectiveAtMs, ...readTail(reader), mint, endpoint, owedBaseUnits }
}

function readClaimed(reader: BodyReader): PaymentEventOf<'ProofClaimed'> {
  const attempt = reader.integer('{"attempt":')
  const attemptId = reader.string(',"attemptId":')
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  const endpoint = reader.string(',"endpoint":')
  const exposedBaseUnits = reader.amount(',"exposedBaseUnits":')
  const leaseMs = reader.integer(',"kind":"ProofClaimed","leaseMs":')
  const mint = reader.plain(',"mint":')
  const orderDigest = reader.plain(',"orderDigest":')
  const { schemaVersion, stream, version } = readTail(reader)
  const wallet = reader.plain(',"wallet":')
  const claim = { attempt, attemptId, wallet, endpoint, orderDigest, leaseMs, mint, exposedBaseUnits }
  return { kind: 'ProofClaimed', stream, version, effectiveAtMs, schemaVersion, ...claim }
}

function readStarted(reader: BodyReader): PaymentEventOf<'AnswerStarted'> {
  const attempt = reader.integer('{"attempt":')
  const attemptId = reader.string(',"attemptId":')
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  reader.literal(',"kind":"AnswerStarted"')
  const { schemaVersion, stream, version } = readTail(reader)
  return { kind: 'AnswerStarted', stream, version, effectiveAtMs, schemaVersion, attempt, attemptId }
}

function readBroken(reader: BodyReader): PaymentEventOf<'AnswerBroken'> {
  const attempt = reader.integer('{"attempt":')
  const attemptId = reader.string(',"attemptId":')
  const bytes = reader.integer(',"bytes":')
  const digest = reader.plain(',"digest":')
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  const exposedBaseUnits = reader.amount(',"exposedBaseUnits":')
  const mint = reader.plain(',"kind":"AnswerBroken","mint":')
  const { schemaVersion, stream, version } = readTail(reader)
  const head = { stream, version, effectiveAtMs, schemaVersion }
  return { kind: 'AnswerBroken', ...head, attempt, attemptId, bytes, digest, mint, exposedBaseUnits }
}

function readFulfilled(reader: BodyReader): PaymentEventOf<'RequestFulfilled'> {
  reader.plain('{"answerDigest":')
  const attempt = reader.integer(',"attempt":')
  const attemptId = reader.string(',"attemptId":')
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  const orderDigest = reader.plain(',"kind":"RequestFulfilled","orderDigest":')
  const { schemaVersion, stream, version } = readTail(reader)
  return { kind: 'RequestFulfilled', stream, version, effectiveAtMs, schemaVersion, attempt, attemptId, orderDigest }
}

function readAllocated(reader: BodyReader): PaymentEventOf<'DistributionAllocated'> {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  const mint = reader.plain(',"kind":"DistributionAllocated","mint":')
  const parts = readShares(reader, ',"parts":')
  const { schemaVersion, stream, version } = readTail(reader)
  return { kind: 'DistributionAllocated', stream, version, effectiveAtMs, schemaVersion, mint, parts }
}

function readFailed(reader: BodyReader): PaymentEventOf<'RequestFailed'> {
  const attempt = reader.integer('{"attempt":')
  const attemptId = reader.string(',"attemptId":')
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  const exposedBaseUnits = reader.amount(',"exposedBaseUnits":')
  const mint = reader.plain(',"kind":"RequestFailed","mint":')
  const reason = reader.plain(',"reason":')
  const { schemaVersion, stream, version } = readTail(reader)
  const head = { stream, version, effectiveAtMs, schemaVersion }
  return { kind: 'RequestFailed', ...head, attempt, attemptId, reason, mint, exposedBaseUnits }
}

function readExhausted(reader: BodyReader): PaymentEventOf<'AttemptsExhausted'> {
  const attempts = reader.integer('{"attempts":')
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  reader.literal(',"kind":"AttemptsExhausted"')
  return { kind: 'AttemptsExhausted', effectiveAtMs, ...readTail(reader), attempts }
}

function readFinalized(reader: BodyReader): PaymentEventOf<'PaymentFinalized'> {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  const exposedBaseUnits = reader.amount(',"exposedBaseUnits":')
  const mint = reader.plain(',"kind":"PaymentFinalized","mint":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const slot = reader.integer(',"slot":')
  const stream = reader.plain(',"stream":')
  const version = reader.integer(',"version":')
  return { kind: 'PaymentFinalized', stream, version, effectiveAtMs, schemaVersion, slot, mint, exposedBaseUnits }
}

function readReversed(reader: BodyReader): PaymentEventOf<'PaymentReversed'> {
  const burnOwedBaseUnits = reader.amount('{"burnOwedBaseUnits":')
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  const endpoint = reader.string(',"endpoint":')
  const exposedBaseUnits = reader.amount(',"exposedBaseUnits":')
  reader.integer(',"finalizedSlot":')
  const lostBaseUnits = reader.amount(',"kind":"PaymentReversed","lostBaseUnits":')
  const mint = reader.plain(',"mint":')
  const overpaidBaseUnits = reader.amount(',"overpaidBaseUnits":')
  const reason = reader.plain(',"reason":')
  if (reason !== 'absent' && reason !== 'failed') throw new UnreadableBody(`${reason} is not a reason of a reversal`)
  const schemaVersion = reader.integer(',"schemaVersion":')
  const stream = reader.plain(',"stream":')
  const unearnedBaseUnits = reader.amount(',"unearnedBaseUnits":')
  const version = reader.integer(',"version":')
  const wallet = reader.plain(',"wallet":')
  const head = { stream, version, effectiveAtMs, schemaVersion }
  const amounts = { unearnedBaseUnits, lostBaseUnits, overpaidBaseUnits, burnOwedBaseUnits, exposedBaseUnits }
  return { kind: 'PaymentReversed', ...head, wallet, mint, endpoint, ...amounts }
}

function readRefundDue(reader: BodyReader): PaymentEventOf<'RefundDue'> {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  const mint = reader.plain(',"kind":"RefundDue","mint":')
  const refundBaseUnits = reader.amount(',"refundBaseUnits":')
  const { schemaVersion, stream, version } = readTail(reader)
  const wallet = reader.plain(',"wallet":')
  return { kind: 'RefundDue', stream, version, effectiveAtMs, schemaVersion, wallet, mint, refundBaseUnits }
}

function readReceived(reader: BodyReader): PaymentEventOf<'TransferReceived'> {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  const mint = reader.plain(',"kind":"TransferReceived","mint":')
  const receivedBaseUnits = reader.amount(',"receivedBaseUnits":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const slot = reader.integer(',"slot":')
  const stream = reader.plain(',"stream":')
  const version = reader.integer(',"version":')
  const wallet = reader.optionalString(',"wallet":')
  const head = { stream, version, effectiveAtMs, schemaVersion }
  return { kind: 'TransferReceived', ...head, wallet, mint, receivedBaseUnits, slot }
}
