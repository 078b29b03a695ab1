import pg from 'pg'
import { z } from 'zod'
import type { TestService } from './testService.ts'

const rowsJson = z.tuple([
  z.object({
    failures: z.array(z.string()),
    entriesSum: z.string(),
    unearned: z.string(),
  }),
])

/** Failed deliveries in the ledger, and whether it balances. */
export async function readLedgerState({ database }: Pick<TestService, 'database'>) {
  const client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
  try {
    const { rows } = await client.query(`
      select
        coalesce((
          select array_agg(convert_from(event.body, 'UTF8')::jsonb ->> 'reason' order by convert_from(event.body, 'UTF8')::jsonb ->> 'reason')
          from ledger.events event
          where event.kind = 'RequestFailed'), '{}') as failures,
        (select coalesce(sum(amount), 0)::text from ledger.entries) as "entriesSum",
        (select coalesce(sum(balance), 0)::text from ledger.accounts where name = 'Liabilities:Unearned') as unearned`)
    const [ledger] = rowsJson.parse(rows)
    return ledger
  } finally {
    await client.end()
  }
}
