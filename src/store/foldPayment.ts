import { assert } from '@tollbook/core/assert'
import type { RecordedEvent } from '@tollbook/ledger/port'
import { paymentCodec } from '../payment/events.ts'
import { evolve, type PaymentState, unknownPayment } from '../payment/payment.ts'
import { textOf } from './paymentItem.ts'

const paymentKinds: ReadonlySet<string> = new Set(paymentCodec.kinds)

/**
 * Folds the stream of one signature into the state of its payment. The state is `unmatched` if the stream belongs to a
 * payout or a burn, because their signatures cannot buy anything.
 */
export function foldPayment(recorded: readonly RecordedEvent[]): PaymentState {
  if (recorded.some(({ kind }) => !paymentKinds.has(kind)))
    return { phase: 'unmatched', version: recorded.length, wallet: undefined }
  return recorded.reduce<PaymentState>((state, { body, recordedAtMs }) => {
    const { event, version } = paymentCodec.decode(textOf(body))
    assert(version === state.version + 1, 'the events of a payment are numbered without a gap')
    return evolve(state, event, recordedAtMs)
  }, unknownPayment)
}
