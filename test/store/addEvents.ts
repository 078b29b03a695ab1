import type pg from 'pg'

/** Many events at once, for tests of what reads them: small bodies that no code of ours decodes, and true leaves. */
export async function addEvents(admin: pg.Pool, count: number): Promise<void> {
  const session = await admin.connect()
  try {
    await session.query('begin')
    await session.query(`set local ledger.writing = 'on'`)
    await session.query(
      `insert into ledger.events (seq, stream, version, kind, schema_version, recorded_at, effective_at, body, leaf_hash)
       select n, 'test', n, 'Test', 1, at, at, body, sha256('\\x00'::bytea || int8send(n) || int8send(0) || body)
       from (select head.seq + k as n, timestamptz 'epoch' as at, convert_to(format('{"n":%s}', k), 'UTF8') as body
             from ledger.head, generate_series(1, $1::bigint) as k) made`,
      [count],
    )
    await session.query('update ledger.head set seq = seq + $1', [count])
    await session.query('commit')
    await session.query('analyze ledger.events')
  } finally {
    session.release()
  }
}
