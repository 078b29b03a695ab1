import { sql } from 'kysely'
import { type PaymentReference, presentedIdOf, referenceOfStream, streamIdOf } from '../payment/paymentReference.ts'
import type { Presentation, Presentations } from '../payment/presentations.ts'
import { type Database, readOrFault, assertRow } from './database.ts'

/**
 * Stores first presentations in a bounded table outside the ledger (`work.presentations`), because a stranger can
 * present any number of invented proofs.
 */
export function createPresentations(database: Database): Presentations {
  return {
    record: (presented) => record(database, presented),
    find: (question) => find(database, question),
    findPresented: (references) => findPresented(database, references),
  }
}

const what = 'a first presentation'

async function record(database: Database, presented: Presentation): Promise<Presentation> {
  const { reference, wallet, presentedAtMs, bound } = presented
  const id = Buffer.from(presentedIdOf(reference))
  const row = await assertRow(database, what)<{ presented_at: Date; last_valid_height: number }>`
    select * from work.record_presentation(${id}, ${wallet}, ${new Date(presentedAtMs)}, ${bound.lastValidHeight})`
  return { ...presented, ...presentationOf(row) }
}

async function find(
  database: Database,
  { reference, wallet }: Pick<Presentation, 'reference' | 'wallet'>,
): Promise<Presentation | undefined> {
  const row = await readOrFault(what, () =>
    database
      .selectFrom('work.presentations')
      .select(['presented_at', 'last_valid_height'])
      .where('reference', '=', Buffer.from(presentedIdOf(reference)))
      .where('wallet', '=', wallet)
      .executeTakeFirst(),
  )
  return row === undefined ? undefined : { reference, wallet, ...presentationOf(row) }
}

function presentationOf(row: { readonly presented_at: Date; readonly last_valid_height: number }) {
  const bound = { lastValidHeight: row.last_valid_height, basis: 'first_presentation' } as const
  return { presentedAtMs: row.presented_at.getTime(), bound }
}

async function findPresented(
  database: Database,
  references: readonly PaymentReference[],
): Promise<ReadonlySet<PaymentReference>> {
  if (references.length === 0) return new Set()
  const ids = references.map((reference) => Buffer.from(streamIdOf(reference)))
  const rows = await readOrFault(what, () =>
    database
      .selectFrom('work.presentations')
      .select('reference')
      .where('reference', 'in', ids)
      // Exclude rows older than a day, which the housekeeping may not have deleted yet.
      .where('recorded_at', '>', sql<Date>`now() - interval '24 hours'`)
      .execute(),
  )
  return new Set(rows.flatMap(({ reference }) => referenceOfStream(reference) ?? []))
}
