import { sql } from 'kysely'
import { assert } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { byteaArray } from '@tollbook/ledger/wire'
import { type PaymentReference, streamIdOf } from '../payment/paymentReference.ts'
import type { Log } from '../machine/log.ts'
import type { Database } from './database.ts'

/** Answers that this process has sent. The table of stored answers learns about them in batches, off the request path. */
export interface SentAnswers {
  add(reference: PaymentReference): void
  /** True from `add` until the table says the same. */
  has(reference: PaymentReference): boolean
  /** Records what waits, once. */
  close(): Promise<void>
}

export interface SentAnswersDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
}

// Four commits a second at any load. Until then only another instance would send an answer twice.
const delayMs = 250
const batchMax = 1_000
// 100,000 references are about 20 MB. Beyond it marks are dropped, and their answers may be sent once more.
const waitingMax = 100_000

/** Records in batches in the background. `close` waits for those that are left. */
export function createSentAnswers(deps: SentAnswersDeps): SentAnswers {
  const waiting = new Set<PaymentReference>()
  const closing = new AbortController()
  let running: Promise<void> | undefined

  async function record(): Promise<void> {
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, batchMax)
      await endNotes(deps.database, batch)
      for (const reference of batch) waiting.delete(reference)
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
    add(reference) {
      if (closing.signal.aborted || waiting.size >= waitingMax) return
      waiting.add(reference)
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

async function endNotes(database: Database, references: readonly PaymentReference[]): Promise<void> {
  assert(references.length > 0, 'a batch of marks has answers')
  await sql`select ledger.end_notes(${byteaArray(references.map(streamIdOf))})`.execute(database)
}
