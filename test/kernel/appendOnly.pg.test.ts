import type pg from 'pg'
import { describe, expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { addEvents } from '../store/addEvents.ts'
import { openKernel, openPool } from './openKernel.ts'
import { claim, newSignature, priceList } from './sampleItems.ts'

const { adminUrl, ownerUrl, serviceUrl } = await createTestDatabase()
const admin = openPool(adminUrl, 4)
const owner = openPool(ownerUrl, 4)
const service = openPool(serviceUrl, 4)

const ledger = openKernel(service)
await ledger.append({
  ...claim(newSignature()),
  keys: [{ space: 10, key: Buffer.from('one'), digest: Uint8Array.of(1), lifetimeSeconds: 60 }],
  note: Buffer.from('answer'),
})
const sold = newSignature()
await ledger.append({ ...claim(sold), note: Buffer.from('sent answer') })
await service.query('select ledger.mark_notes($1, 120)', [[Buffer.from(sold)]])
await ledger.append(priceList(1))
await service.query(`select ledger.record_quotes(array['one'], array['wallet'], array['/api/x'], array['memo'], array[1], array['mint'],
  array[5], array[(extract(epoch from now()) * 1000)::bigint], array[(extract(epoch from now()) * 1000)::bigint + 1000], array[1])`)
await service.query('select work.follow(100)')
// Enough for a full tile besides the checkpoint.
await addEvents(admin, 256)
await service.query(
  `select ledger.seal('seal', work.take_lease('seal', 'test', 60000), 256, sha256('root'), 'a note', array[0]::smallint[], array[0]::bigint[],
    array(select string_agg(leaf_hash, ''::bytea order by seq) from ledger.events where seq <= 256), array[sha256('tile')])`,
)
await service.query("select ledger.report_lost_history(9999, sha256('lost'), 'test')")

interface Table {
  readonly name: string
  readonly column: string
  readonly schema: string
}

// From the catalogue, so that no new table or partition can be forgotten.
const { rows: tables } = await admin.query<Table>(`
  select format('%I.%I', n.nspname, c.relname) as name, n.nspname as schema,
    (select format('%I', a.attname) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and a.attidentity = '' order by a.attnum limit 1) as column
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('ledger', 'work', 'paywall', 'news', 'reports', 'signer', 'migration') and c.relkind in ('r', 'p')
  order by 1`)
// The declaration is written by migrations alone, which run as the owner: its digest is in ledger.code.
const declared = new Set(['kinds', 'steps', 'classes', 'code'].map((name) => `ledger.${name}`))
const log = tables.filter(({ schema, name }) => schema === 'ledger' && !declared.has(name))
const projections = new Set(['ledger.head', 'ledger.streams', 'ledger.accounts', 'ledger.tallies'])
const stored = new Set(['ledger.keys', 'ledger.notes', 'ledger.sent_notes'])

const insufficientPrivilege = '42501'

/** The SQLSTATE of a statement that is refused; `done` when it is not, which is undone. */
async function refusalOf(pool: pg.Pool, statement: string, before = ''): Promise<string> {
  const session = await pool.connect()
  try {
    await session.query('begin')
    if (before !== '') await session.query(before)
    await session.query(statement)
    return 'done'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  } finally {
    await session.query('rollback')
    session.release()
  }
}

function writesTo({ name, column }: Table): readonly string[] {
  return [
    `insert into ${name} overriding system value select * from ${name} limit 1`,
    `insert into ${name} default values`,
    `update ${name} set ${column} = ${column}`,
    `update ${name} set ${column} = ${column} where false`,
    `delete from ${name}`,
    `delete from ${name} where false`,
    `truncate ${name}`,
    `merge into ${name} t using (select 1) s on false when matched then delete when not matched then do nothing`,
  ]
}

test('the catalogue shows the tables of the ledger and their partitions, and each has rows or is a partition', async () => {
  const parents = [
    'events',
    'quotes',
    'settings',
    'tiles',
    'checkpoints',
    'lost_history',
    ...[...projections, ...stored].map((name) => name.slice(7)),
  ]
  for (const parent of parents) {
    expect(log.map(({ name }) => name)).toContain(`ledger.${parent}`)
    const { rows } = await admin.query<{ count: number }>(`select count(*)::int as count from ledger.${parent}`)
    expect(rows[0]?.count, parent).toBeGreaterThan(0)
  }
  expect(log.length).toBe(parents.length + 3 + 10)
})

describe('least privilege: a member of tollbook_service', () => {
  test.each(tables.map((table) => [table.name, table] as const))(
    'may not insert, update, delete, merge or truncate %s',
    async (_, table) => {
      for (const statement of writesTo(table))
        expect(await refusalOf(service, statement), statement).toBe(insufficientPrivilege)
    },
  )

  test('may not lock, alter, drop or take over a table, nor become its owner', async () => {
    for (const { name } of log)
      for (const statement of [
        `lock table ${name} in exclusive mode`,
        `alter table ${name} disable trigger all`,
        `drop table ${name}`,
        `alter table ${name} owner to current_user`,
      ])
        expect(await refusalOf(service, statement), statement).toBe(insufficientPrivilege)
    for (const statement of [
      'set role tollbook_owner',
      'set session_replication_role = replica',
      'create table ledger.mine (id int)',
      'create function ledger.mine() returns int language sql as $$ select 1 $$',
    ])
      expect(await refusalOf(service, statement), statement).toBe(insufficientPrivilege)
  })

  test('gains nothing by pretending to be the write path', async () => {
    for (const table of log) {
      const [insert = ''] = writesTo(table)
      expect(await refusalOf(service, insert, "set local ledger.writing = 'on'"), table.name).toBe(
        insufficientPrivilege,
      )
    }
  })

  test('may execute the functions that are granted to it, and no other', async () => {
    const { rows } = await service.query<{ name: string }>(`
      select format('%s.%s', n.nspname, p.proname) as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in ('ledger', 'work', 'paywall', 'news', 'reports', 'signer') and has_function_privilege(p.oid, 'execute') order by 1`)
    expect(rows.map(({ name }) => name)).toEqual([
      'ledger.add_partitions',
      'ledger.append_batch',
      'ledger.end_notes',
      'ledger.find_bound_quote',
      'ledger.find_open_quote',
      'ledger.forget_old_notes',
      'ledger.identify',
      'ledger.mark_notes',
      'ledger.probe_commit',
      'ledger.quote_storage',
      'ledger.read',
      'ledger.read_many',
      'ledger.record_quotes',
      'ledger.report_lost_history',
      'ledger.seal',
      'ledger.setting_at',
      'news.forget_old',
      'news.keep_stories',
      'news.poll_failed',
      'news.poll_succeeded',
      'news.take_poll',
      'news.trust',
      'paywall.move_transfer_scan',
      'reports.month_closed_at',
      'reports.roll_up',
      'reports.roll_up_in_turn',
      'work.end_lease',
      'work.follow',
      'work.forget_old_presentations',
      'work.record_presentation',
      'work.renew_lease',
      'work.share_rates',
      'work.take_lease',
    ])
  })
})

test('a function that is created later may be called by its owner alone', async () => {
  await owner.query('create function ledger.later() returns integer language sql as $$ select 1 $$')
  try {
    expect(await refusalOf(service, 'select ledger.later()')).toBe(insufficientPrivilege)
  } finally {
    await owner.query('drop function ledger.later')
  }
})

describe('rows never change (I22), because the owner', () => {
  test.each(log.map((table) => [table.name, table] as const))('may not write %s directly', async (_, table) => {
    for (const statement of writesTo(table).filter((statement) => !statement.startsWith('merge'))) {
      expect(await refusalOf(owner, statement), statement).toBe(insufficientPrivilege)
      // Even as the write path, a row that is there is neither changed (log) nor taken away (log and projections).
      const isAllowed =
        statement.startsWith('insert') ||
        (projections.has(table.name) && statement.startsWith('update')) ||
        (stored.has(table.name) && !statement.startsWith('truncate'))
      if (isAllowed) continue
      expect(await refusalOf(owner, statement, "set local ledger.writing = 'on'"), statement).toBe(
        insufficientPrivilege,
      )
    }
    expect(await refusalOf(owner, `merge into ${table.name} using (select 1) s on true when matched then delete`)).toBe(
      insufficientPrivilege,
    )
  })
})

test.each(log.map((table) => [table.name, table] as const))(
  'the triggers of %s hold for a superuser too, and in a session that replays a replica (I22)',
  async (_, table) => {
    for (const statement of writesTo(table).filter((statement) => !statement.startsWith('merge'))) {
      const refusal = await refusalOf(admin, statement, 'set local session_replication_role = replica')
      expect(refusal, statement).toBe(insufficientPrivilege)
    }
  },
)

test('a refused change leaves the row as it was (I22)', async () => {
  const read = async () => (await admin.query('select * from ledger.events order by seq')).rows
  const before = await read()
  await refusalOf(owner, "update ledger.events set body = '\\x00'")
  await refusalOf(owner, 'truncate ledger.events cascade')
  expect(await read()).toEqual(before)
})

test("every function pins its search path, with temporary objects last, because definers run it with the owner's rights", async () => {
  const { rows } = await admin.query<{ name: string; isDefiner: boolean; config: readonly string[] | null }>(`
    select p.proname as name, p.prosecdef as "isDefiner", p.proconfig as config
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('ledger', 'work', 'paywall', 'news', 'reports', 'signer') order by 1`)
  const pinned = rows.filter(({ isDefiner, config }) => isDefiner || config !== null)
  expect(pinned.filter(({ isDefiner }) => isDefiner).length).toBeGreaterThanOrEqual(16)
  for (const { name, config } of pinned) expect(config, name).toContain('search_path=pg_catalog, pg_temp')
})

test.each([
  ['text', 'select ledger.identify(0)'],
  ['date', 'select ledger.add_partitions()'],
])('a temporary type %s of a login of the service is not used by functions of the owner', async (type, call) => {
  const lure = `
    create function pg_temp.take_over(pg_catalog.${type}) returns boolean language plpgsql as $$
    begin
      if current_user <> session_user then raise exception 'it runs as %', current_user using errcode = 'TB999'; end if;
      return true;
    end $$;
    create domain pg_temp.${type} as pg_catalog.${type} check (pg_temp.take_over(value))`
  expect(await refusalOf(openPool(serviceUrl, 1), call, lure)).toBe('done')
})

test('rows that every append updates stay on their page: updates of streams and of the head are HOT', async () => {
  const { rows } = await admin.query<{ name: string; options: readonly string[] }>(
    `select relname as name, reloptions as options from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'ledger' and relname in ('head', 'streams', 'accounts', 'tallies') order by 1`,
  )
  const optionsOf = (name: string) => rows.find((row) => row.name === name)?.options.join(' ')
  expect(optionsOf('head')).toMatch(/fillfactor=10 autovacuum_vacuum_scale_factor=0 autovacuum_vacuum_threshold=1000/)
  expect(optionsOf('streams')).toMatch(/fillfactor=60/)
  // No index of streams holds a column that an update changes; otherwise no update could be HOT.
  const { rows: indexed } = await admin.query<{ column: string }>(
    `select distinct a.attname as column from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
     where i.indrelid = 'ledger.streams'::regclass order by 1`,
  )
  expect(indexed.map(({ column }) => column)).toEqual(['id', 'stream'])
})
