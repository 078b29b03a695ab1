import type pg from 'pg'

/** Changes the ledger as only a superuser can: with every trigger off meanwhile. */
export async function tamper(admin: pg.Pool, statement: string): Promise<void> {
  const session = await admin.connect()
  try {
    await session.query('begin')
    const { rows } = await session.query<{ part: string; trigger: string }>(
      `select t.tgrelid::regclass as part, quote_ident(t.tgname) as trigger
       from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'ledger' and not t.tgisinternal`,
    )
    for (const { part, trigger } of rows) await session.query(`alter table ${part} disable trigger ${trigger}`)
    await session.query(statement)
    for (const { part, trigger } of rows) await session.query(`alter table ${part} enable always trigger ${trigger}`)
    await session.query('commit')
  } finally {
    session.release()
  }
}
