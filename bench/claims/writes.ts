import pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'
import type { Claimer } from './claimer.ts'
import { median } from '../yardstick.ts'

const batch = 32
const batches = 60

/** Bytes of write-ahead log per claim and per fulfilment, without the images of whole pages that follow each checkpoint. */
export async function walOf(
  claimer: Claimer,
  admin: pg.Client,
): Promise<{ claimBytes: number; fulfilmentBytes: number }> {
  // A checkpoint before the measurement adds 8 kB for each page that a random id touches: 16 kB a claim instead of 4.
  await setPageImages(admin, 'off')
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
  await setPageImages(admin, 'on')
  return { claimBytes: median(claimed), fulfilmentBytes: median(fulfilled) }
}

/** The server of the bench is thrown away. The median ignores the batches before the setting arrives. */
export async function setPageImages(admin: pg.Client, value: 'on' | 'off'): Promise<void> {
  await admin.query(`alter system set full_page_writes = ${value}`)
  await admin.query('select pg_reload_conf()')
}

export async function walPosition(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query<{ bytes: string }>(
    "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes",
  )
  return Number(assertPresent(rows[0], 'the server has a position').bytes)
}

/** Share of HOT updates of streams, counted once the sessions that made them are closed. */
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
