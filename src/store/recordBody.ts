import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { type Database, isDenied } from './database.ts'

/** Position of an event that a writer other than the service recorded, or the reason of its refusal. */
export type RecordedBody =
  | { readonly refusal: string }
  | { readonly refusal: undefined; readonly position: number; readonly leafHash: string }

export interface Recording {
  /** Function of the ledger that derives the postings from the body. Only members of `role` may call it. */
  readonly call: 'record_burn' | 'record_holder_payout' | 'record_payout' | 'change_setting'
  readonly role: string
  /** Canonical JSON of the event. */
  readonly body: string
  /** Advice for a lost answer. */
  readonly whenLost: string
}

interface Row {
  readonly refusal: string | null
  readonly seq: number | null
  readonly leaf_hash: Buffer | null
}

/** Records the body of one event. After a lost answer the call may be repeated. */
export async function recordBody(database: Database, recording: Recording): Promise<RecordedBody> {
  const { refusal, seq, leaf_hash: leaf } = await call(database, recording)
  if (refusal !== null) return { refusal }
  return {
    refusal: undefined,
    position: assertPresent(seq, 'a recorded event has a position'),
    leafHash: assertPresent(leaf, 'a recorded event has a leaf').toString('hex'),
  }
}

async function call(database: Database, { call, role, body, whenLost }: Recording): Promise<Row> {
  const record = sql.raw(`ledger.${call}`)
  try {
    const { rows } = await sql<Row>`
      select refusal, seq, leaf_hash from ${record}(${Buffer.from(body, 'utf8')})`.execute(database)
    return assertPresent(rows[0], 'a recording is answered')
  } catch (error) {
    if (isDenied(error)) throw new Fault(`the login is not a member of ${role}`, { cause: error, retryable: false })
    throw new Fault(`the ledger did not report whether it took the event; ${whenLost}`, {
      cause: error,
      retryable: true,
    })
  }
}
