import pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'
import type { Claimer } from './claimer.ts'
import { median } from '../yardstick.ts'

const batch = 32
const batches = 60

/** Bytes of write-ahead log per claim and per fulfilment: the median batch, so that images of whole pages do not count. */
export async function walOf(
  claimer: Claimer,
  admin: pg.Client,
): Promise<{ claimBytes: number; fulfilmentBytes: number }> {
  const claimed: number[] = []
  const fulfilled: number[] = []
  for (let n = 0; n < batches; n++) {
    const start = await walPosition(admin)
    const fulfilments = await claimer.claimMany(batch)
    const middle = await walPosition(admin)
    await Promise.all(fulfilments.map((fulfil) => fulfil()))
    claimed.push((middle - start) / batch)
    fulfilled.push(((await walPosition(admin)) - middle) / batch)
  }
  return { claimBytes: median(claimed), fulfilmentBytes: median(fulfilled) }
}

async function walPosition(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query<{ bytes: string }>(
    "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes",
  )
  return Number(assertPresent(rows[0], 'the server has a position').bytes)
}

/** Of the updates of streams; counted once the sessions that made them are closed. */
export async function hotShare(adminUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ share: number | null }>(
      `select n_tup_hot_upd::float8 / nullif(n_tup_upd, 0) as share
       from pg_stat_user_tables where schemaname = 'ledger' and relname = 'streams'`,
    )
    return rows[0]?.share ?? Number.NaN
  } finally {
    await client.end()
  }
}
