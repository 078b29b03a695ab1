import { sql } from 'kysely'
import { assert } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { byteaArray } from '@tollbook/ledger/wire'
import type { SentAnswer } from '../payment/paymentLedger.ts'
import { type PaymentReference, streamIdOf } from '../payment/paymentReference.ts'
import type { Log } from '../machine/log.ts'
import type { Database } from './database.ts'

/**
 * Answers that this process has sent. The table of stored answers gets them in batches, so that no request waits for
 * this write.
 */
export interface SentAnswers {
  add(answer: SentAnswer): void
  /** True from `add` until the table records the sending, so that this process does not take the answer for unsent. */
  has(reference: PaymentReference): boolean
  /** Makes one attempt to record the waiting answers, so that a stop does not wait for a database that is down. */
  close(): Promise<void>
}

export interface SentAnswersDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  /** Time in milliseconds during which a bound answer may be sent again. 0: every answer is deleted once it was sent. */
  readonly repeatMs: number
}

// Interval between recordings, so that the number of commits hardly grows with the load. Until the commit, another
// instance could send an answer again.
const delayMs = 250
const batchMax = 1_000
// Maximum of waiting answers: 100,000 references take about 20 MB. Further answers are not recorded as sent, so they
// may be sent once more.
const waitingMax = 100_000

export function createSentAnswers(deps: SentAnswersDeps): SentAnswers {
  const waiting = new Map<PaymentReference, SentAnswer>()
  const closing = new AbortController()
  let running: Promise<void> | undefined

  async function record(): Promise<void> {
    while (waiting.size > 0) {
      const batch = [...waiting.values()].slice(0, batchMax)
      await recordSent(deps, batch)
      for (const { reference } of batch) waiting.delete(reference)
    }
  }

  async function recordLater(): Promise<void> {
    while (waiting.size > 0 && !closing.signal.aborted) {
      try {
        await deps.clock.sleep(delayMs, closing.signal)
        await record()
      } catch (error) {
        if (!closing.signal.aborted) warn(deps.log, waiting.size, error)
      }
    }
    running = undefined
  }

  return {
    add(answer) {
      if (closing.signal.aborted || waiting.size >= waitingMax) return
      waiting.set(answer.reference, answer)
      running ??= recordLater()
    },
    has: (reference) => waiting.has(reference),
    async close() {
      closing.abort()
      await running
      await record().catch((error: unknown) => warn(deps.log, waiting.size, error))
    },
  }
}

function warn(log: Log, answers: number, error: unknown): void {
  log.warn({ event: 'sent_answers_not_recorded', answers, error: describeError(error) })
}

async function recordSent({ database, repeatMs }: SentAnswersDeps, batch: readonly SentAnswer[]): Promise<void> {
  assert(batch.length > 0, 'a batch of marks has answers')
  const isRepeatable = ({ isBound }: SentAnswer) => isBound && repeatMs > 0
  const ended = batch.filter((answer) => !isRepeatable(answer))
  const repeatable = batch.filter(isRepeatable)
  if (ended.length > 0) await sql`select ledger.end_notes(${idsOf(ended)})`.execute(database)
  if (repeatable.length > 0) await markNotes({ database, repeatMs }, idsOf(repeatable))
}

type MarkDeps = Pick<SentAnswersDeps, 'database' | 'repeatMs'>

/** Deletes answers that may no longer be sent again. Each call of `ledger.mark_notes` does so, even without ids. */
export async function forgetSentAnswers(deps: MarkDeps): Promise<void> {
  await markNotes(deps, byteaArray([]))
}

async function markNotes({ database, repeatMs }: MarkDeps, ids: Buffer): Promise<void> {
  await sql`select ledger.mark_notes(${ids}, ${secondsOf(repeatMs)}::integer)`.execute(database)
}

function idsOf(answers: readonly SentAnswer[]) {
  return byteaArray(answers.map(({ reference }) => streamIdOf(reference)))
}

/** Rounds up, because an answer may be sent again for at least that time. */
export function secondsOf(repeatMs: number): number {
  return Math.ceil(repeatMs / 1000)
}
