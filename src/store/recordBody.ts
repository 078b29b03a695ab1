import { sql } from 'kysely'
import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { sqlState } from '@tollbook/ledger/database'
import { type Database, isDenied } from './database.ts'

/** Position of an event that a writer other than the service recorded, or the reason of its refusal. */
export type RecordedBody =
  | { readonly refusal: string }
  | { readonly refusal: undefined; readonly position: number; readonly leafHash: string }

export interface Recording {
  /** Function of the ledger that records the bodies. Only members of `role` may call it. */
  readonly call: `record_${string}` | 'change_setting'
  readonly role: string
  /** Canonical JSON of each event: one, or two that are recorded together. */
  readonly bodies: readonly string[]
  /** Signatures that `record_holder_payout` takes after the body. */
  readonly judged?: readonly string[] | undefined
  /** Advice to the operator if the answer of the database is lost. */
  readonly whenLost: string
}

interface Row {
  readonly refusal: string | null
  readonly seq: number | null
  readonly leaf_hash: Buffer | null
}

/**
 * Records events for a writer other than the service. The call is idempotent, so the caller may repeat it after a lost
 * answer.
 */
export async function recordBody(database: Database, recording: Recording): Promise<RecordedBody> {
  const { refusal, seq, leaf_hash: leaf } = await call(database, recording)
  if (refusal !== null) return { refusal }
  return {
    refusal: undefined,
    position: assertPresent(seq, 'a recorded event has a position'),
    leafHash: assertPresent(leaf, 'a recorded event has a leaf').toString('hex'),
  }
}

async function call(database: Database, { call, role, bodies, judged, whenLost }: Recording): Promise<Row> {
  assert(bodies.length > 0, 'a recording has an event')
  const events = bodies.map((body) => sql`${Buffer.from(body, 'utf8')}`)
  const values = judged === undefined ? events : [...events, sql`${judged}::text[]`]
  try {
    const { rows } = await sql<Row>`
      select refusal, seq, leaf_hash from ${sql.id('ledger', call)}(${sql.join(values)})`.execute(database)
    return assertPresent(rows[0], 'a recording is answered')
  } catch (error) {
    if (isDenied(error)) throw new Fault(`the login is not a member of ${role}`, { cause: error, retryable: false })
    if (error instanceof Error && sqlState(error) === checkViolation)
      throw new Fault(error.message, { cause: error, retryable: false })
    throw new Fault(`the ledger did not report whether it took the event; ${whenLost}`, {
      cause: error,
      retryable: true,
    })
  }
}

// SQLSTATE `check_violation`: the body breaks a rule of the ledger.
const checkViolation = '23514'
