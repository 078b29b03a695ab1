import { sql } from 'kysely'
import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { sqlState } from '@tollbook/ledger/database'
import { createEventCodec } from '../payment/eventCodec.ts'
import { refundEvents } from '../payment/events/refundEvents.ts'
import { paymentCodec, type PaymentEvent, type RefundEvent } from '../payment/events.ts'
import type { PaymentDecision, PaymentState } from '../payment/payment.ts'
import { type PaymentReference, streamIdOf } from '../payment/paymentReference.ts'
import {
  evolveRefund,
  noRefund,
  type RefundDecision,
  refundSpace,
  type RefundState,
  refundStreamName,
} from '../payment/refundDecision.ts'
import { type Database, isDenied, readOrFault } from './database.ts'
import { textOf } from './paymentItem.ts'

const codec = createEventCodec<RefundEvent>(refundEvents)

/** The finance login's access to decisions about refunds. */
export interface RefundStore {
  /** Login of the session, which a decision records. */
  login(): Promise<string>
  read(payment: PaymentReference): Promise<RefundState>
  /** Undefined if another decision was recorded first. Read and decide again. */
  record(decision: RefundDecision, before: RefundState): Promise<RecordedDecision | undefined>
  /** Records a due step of the payment together with its approval, or neither. */
  recordBooking(booking: RefundBooking): Promise<RecordedDecision | undefined>
}

/** Position of the decision's event in the ledger. */
export interface RecordedDecision {
  readonly position: number
  readonly leafHash: string
}

/** An event of a payment and the approval of its refund, appended in one database transaction. */
export interface RefundBooking {
  readonly reference: PaymentReference
  readonly before: PaymentState
  readonly decision: PaymentDecision
  readonly approval: RefundDecision
  readonly refund: RefundState
  readonly nowMs: number
}

export function createRefundStore(database: Database, nowMs: () => number): RefundStore {
  return {
    login: () => readOrFault('the login', () => readLogin(database)),
    read: (payment) => readOrFault('the decisions about a refund', () => readRefund(database, payment)),
    record: (decision, before) => {
      const body = encode(decision, before, nowMs())
      return call(() => sql<Row>`select refusal, seq, leaf_hash from ledger.record_refund(${body})`.execute(database))
    },
    recordBooking: (booking) => recordBooking(database, booking),
  }
}

async function readLogin(database: Database): Promise<string> {
  const { rows } = await sql<{ login: string }>`select session_user::text as login`.execute(database)
  return assertPresent(rows[0], 'a session has a login').login
}

async function readRefund(database: Database, payment: PaymentReference): Promise<RefundState> {
  const id = Buffer.from([refundSpace, ...streamIdOf(payment).subarray(1)])
  const { rows } = await sql<{ body: Buffer }>`select body from ledger.read(${id})`.execute(database)
  return rows.map(({ body }) => codec.decode(textOf(body)).event).reduce(evolveRefund, noRefund)
}

function encode({ event }: RefundDecision, before: RefundState, effectiveAtMs: number): Buffer {
  const header = { stream: refundStreamName(event.payment), version: before.version + 1, effectiveAtMs }
  return Buffer.from(codec.encode(event, header), 'utf8')
}

async function recordBooking(database: Database, booking: RefundBooking): Promise<RecordedDecision | undefined> {
  const { reference, before, decision, approval, refund, nowMs } = booking
  const event: PaymentEvent = assertPresent(decision.events[0], 'a booking has an event')
  assert(decision.events.length === 1, 'a booking is one event of the payment')
  const header = { stream: reference, version: before.version + 1, effectiveAtMs: nowMs }
  const body = Buffer.from(paymentCodec.encode(event, header), 'utf8')
  const approvalBody = encode(approval, refund, nowMs)
  return call(() =>
    sql<Row>`select refusal, seq, leaf_hash from ledger.record_booking(${body}, ${approvalBody})`.execute(database),
  )
}

interface Row {
  readonly refusal: string | null
  readonly seq: number | null
  readonly leaf_hash: Buffer | null
}

async function call(ask: () => Promise<{ readonly rows: readonly Row[] }>): Promise<RecordedDecision | undefined> {
  const row = assertPresent((await askOrFault(ask)).rows[0], 'a decision is answered')
  // The state or the version has changed since the caller read it.
  if (row.refusal === 'conflict' || row.refusal === 'not_this_step') return undefined
  if (row.refusal !== null) throw new Fault(`the ledger refused the decision: ${row.refusal}`, { retryable: false })
  return {
    position: assertPresent(row.seq, 'a recorded decision has a position'),
    leafHash: assertPresent(row.leaf_hash, 'a recorded decision has a leaf').toString('hex'),
  }
}

const overtaken = '40001'
const refused = '23514'

async function askOrFault<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (isDenied(error))
      throw new Fault('the login is not a member of tollbook_finance', { cause: error, retryable: false })
    const state = sqlState(error)
    if (state === refused)
      throw new Fault(error instanceof Error ? error.message : String(error), { cause: error, retryable: false })
    const why = state === overtaken ? 'another decision was recorded first' : 'the ledger did not answer'
    throw new Fault(`${why}; do the same again`, { cause: error, retryable: true })
  }
}
