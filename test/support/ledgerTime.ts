import { readFile } from 'node:fs/promises'

/** Time at which a ledger of a test records its next events; it never goes back. */
export interface LedgerTime {
  set(ms: number): Promise<void>
}

const ownFunction = new URL('../../packages/ledger/sql/next_time.sql', import.meta.url)

/** The ledger records events at given times, as if it had run then: a month of a test can be closed. */
export async function openLedgerTime(admin: {
  query(text: string, values: unknown[]): Promise<unknown>
}): Promise<LedgerTime & { release(): Promise<void> }> {
  const run = async (text: string, values: readonly unknown[] = []) => void (await admin.query(text, [...values]))
  await run('create table ledger.given_time (at timestamptz not null)')
  await run('insert into ledger.given_time values (clock_timestamp())')
  await run(givenTime)
  return {
    set: (ms) => run('update ledger.given_time set at = $1', [new Date(ms)]),
    release: async () => {
      await run(await readFile(ownFunction, 'utf8'))
      await run('drop table ledger.given_time')
    },
  }
}

// The owner of ledger.append_batch executes it.
const givenTime = `
  create or replace function ledger.next_time(
    ledger_time timestamptz, clock_before timestamptz, out next_time timestamptz, out clock timestamptz)
  language sql
  set search_path = pg_catalog, pg_temp
  as $$
    select t.given, t.given
    from (select greatest(g.at, ledger_time + interval '1 millisecond') as given from ledger.given_time g) t
  $$;
  grant select on ledger.given_time to public`
