import { isoTime } from '@tollbook/core/clock'
import type { RecordedPaymentEvent } from '../reports/paymentFacts.ts'
import type { Attempt } from './explanation.ts'

export function attemptsOf(events: readonly RecordedPaymentEvent[]): readonly Attempt[] {
  const attempts: Attempt[] = []
  for (const { event, recordedAtMs } of events) {
    if (event?.kind === 'ProofClaimed' || event?.kind === 'TabDebited') {
      const { attempt, attemptId } = event
      const startedAt = isoTime(recordedAtMs)
      attempts.push({ attempt, attemptId, startedAt, endedAt: null, outcome: 'running', reason: null })
      continue
    }
    const last = attempts.at(-1)
    const end = endOf(event)
    if (last === undefined || end === undefined) continue
    attempts[attempts.length - 1] = { ...last, ...end, endedAt: isoTime(recordedAtMs) }
  }
  return attempts
}

function endOf(event: RecordedPaymentEvent['event']): Pick<Attempt, 'outcome' | 'reason'> | undefined {
  if (event?.kind === 'RequestFulfilled' || event?.kind === 'TabCaptured') return { outcome: 'delivered', reason: null }
  if (event?.kind === 'RequestFailed') return { outcome: 'failed', reason: event.reason }
  if (event?.kind === 'AnswerBroken') return { outcome: 'broken', reason: `ended after ${event.bytes} bytes` }
  return undefined
}
