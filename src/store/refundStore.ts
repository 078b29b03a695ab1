import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
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
import { type Database, assertRow, readRows } from './database.ts'
import { textOf } from './paymentItem.ts'
import { recordBody, type Recording } from './recordBody.ts'

const codec = createEventCodec<RefundEvent>(refundEvents)

export type RefundStore = ReturnType<typeof createRefundStore>

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

export function createRefundStore(database: Database, nowMs: () => number) {
  return {
    /** Login of the session, because each decision records it. */
    login: async () =>
      (await assertRow(database, 'the login')<{ login: string }>`select session_user::text as login`).login,
    read: (payment: PaymentReference) => readRefund(database, payment),
    /** Undefined if another decision was recorded first. The caller then reads and decides again. */
    record: (decision: RefundDecision, before: RefundState) =>
      record(database, { call: 'record_refund', bodies: [encode(decision, before, nowMs())] }),
    /** Either both the step and the approval are recorded, or neither. */
    recordBooking: (booking: RefundBooking) => recordBooking(database, booking),
  }
}

async function readRefund(database: Database, payment: PaymentReference): Promise<RefundState> {
  const id = Buffer.from([refundSpace, ...streamIdOf(payment).subarray(1)])
  const rows = await readRows(database, 'the decisions about a refund')<{ body: Buffer }>`
    select body from ledger.read(${id})`
  return rows.map(({ body }) => codec.decode(textOf(body)).event).reduce(evolveRefund, noRefund)
}

function encode({ event }: RefundDecision, before: RefundState, effectiveAtMs: number): string {
  return codec.encode(event, { stream: refundStreamName(event.payment), version: before.version + 1, effectiveAtMs })
}

async function recordBooking(database: Database, booking: RefundBooking): Promise<RecordedDecision | undefined> {
  const { reference, before, decision, approval, refund, nowMs } = booking
  const event: PaymentEvent = assertPresent(decision.events[0], 'a booking has an event')
  assert(decision.events.length === 1, 'a booking is one event of the payment')
  const header = { stream: reference, version: before.version + 1, effectiveAtMs: nowMs }
  const bodies = [paymentCodec.encode(event, header), encode(approval, refund, nowMs)]
  return record(database, { call: 'record_booking', bodies })
}

async function record(
  database: Database,
  recording: Pick<Recording, 'call' | 'bodies'>,
): Promise<RecordedDecision | undefined> {
  const of = { role: 'tollbook_finance', whenLost: 'do the same again' }
  const recorded = await recordBody(database, { ...of, ...recording })
  // The state or the version has changed since the caller read them.
  if (recorded.refusal === 'conflict' || recorded.refusal === 'not_this_step') return undefined
  if (recorded.refusal !== undefined)
    throw new Fault(`the ledger refused the decision: ${recorded.refusal}`, { retryable: false })
  return { position: recorded.position, leafHash: recorded.leafHash }
}
