import type pg from 'pg'
import { describe, expect, test } from 'vitest'
import { sealNext } from '../../src/store/sealer.ts'
import { createTestDatabase } from '../support/database.ts'
import { addEvents } from './addEvents.ts'
import { mustAppend, openInstance, openSessions } from './instance.ts'
import { claimOf, sampleQuote, sampleSettlement } from './samplePayment.ts'

const { adminUrl, ownerUrl, serviceUrl } = await createTestDatabase()
const admin = openSessions(adminUrl)
const owner = openSessions(ownerUrl)
const service = openSessions(serviceUrl)

const ledger = await openInstance(serviceUrl)
const settlement = sampleSettlement()
await mustAppend(ledger, claimOf(settlement, { idempotencyKey: 'one' }).change)
await ledger.payments.recordQuote(sampleQuote())
const { signature: _signature, ...listed } = { signature: settlement.signature, ...settlement.price }
await ledger.publishPrices({ kind: 'PriceListPublished', source: 'test', prices: [listed] })
// Enough for a full tile beside the checkpoint.
await addEvents(admin, 256)
await sealNext({ database: ledger.database, sign: () => 'a note' })

interface Table {
  readonly name: string
  readonly column: string
  readonly schema: string
}

// From the catalogue, so that no new table or partition can be forgotten.
const { rows: tables } = await admin.query<Table>(`
  select format('%I.%I', n.nspname, c.relname) as name, n.nspname as schema,
    (select format('%I', a.attname) from pg_attribute a where a.attrelid = c.oid and a.attnum = 1) as column
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('ledger', 'paywall', 'migration') and c.relkind in ('r', 'p')
  order by 1`)
const book = tables.filter(({ schema }) => schema === 'ledger')

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
    `insert into ${name} select * from ${name} limit 1`,
    `insert into ${name} default values`,
    `update ${name} set ${column} = ${column}`,
    `update ${name} set ${column} = ${column} where false`,
    `delete from ${name}`,
    `delete from ${name} where false`,
    `truncate ${name}`,
    `merge into ${name} t using (select 1) s on false when matched then delete when not matched then do nothing`,
  ]
}

test('the catalogue shows the tables of the book and their partitions, and each has rows or is a partition', async () => {
  const parents = [
    'events',
    'entries',
    'quotes',
    'price_lists',
    'head',
    'payments',
    'balances',
    'burn_totals',
    'tiles',
    'checkpoints',
  ]
  for (const parent of parents) {
    expect(book.map(({ name }) => name)).toContain(`ledger.${parent}`)
    const { rows } = await admin.query<{ count: number }>(`select count(*)::int as count from ledger.${parent}`)
    expect(rows[0]?.count, parent).toBeGreaterThan(0)
  }
  expect(book.length).toBeGreaterThanOrEqual(parents.length + 2 + 2 + 9)
})

describe('least privilege: a member of tollbook_service', () => {
  test.each(tables.map((table) => [table.name, table] as const))(
    'may not insert, update, delete, merge or truncate %s',
    async (_, table) => {
      for (const statement of writesTo(table)) {
        expect(await refusalOf(service, statement), statement).toBe(insufficientPrivilege)
      }
    },
  )

  test('may not lock, alter, drop or take over a table, nor become its owner', async () => {
    for (const { name } of book) {
      for (const statement of [
        `lock table ${name} in exclusive mode`,
        `alter table ${name} disable trigger all`,
        `drop table ${name}`,
        `alter table ${name} owner to current_user`,
      ]) {
        expect(await refusalOf(service, statement), statement).toBe(insufficientPrivilege)
      }
    }
    expect(await refusalOf(service, 'set role tollbook_owner')).toBe(insufficientPrivilege)
    expect(await refusalOf(service, 'set session_replication_role = replica')).toBe(insufficientPrivilege)
    expect(await refusalOf(service, 'create table ledger.mine (id int)')).toBe(insufficientPrivilege)
  })

  test('gains nothing by pretending to be the write path', async () => {
    for (const table of book) {
      const [insert = ''] = writesTo(table)
      expect(await refusalOf(service, insert, "set local ledger.writing = 'on'"), table.name).toBe(
        insufficientPrivilege,
      )
    }
  })

  test('may execute the functions of the write path and no other', async () => {
    const { rows } = await service.query<{ name: string }>(`
      select p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in ('ledger', 'paywall') and has_function_privilege(p.oid, 'execute') order by 1`)
    expect(rows.map(({ name }) => name)).toEqual([
      'add_partitions',
      'append',
      'forget_old_answers',
      'record_quotes',
      'seal',
    ])
  })
})

describe('I22: rows never change, because the owner', () => {
  test.each(book.map((table) => [table.name, table] as const))('may not write %s directly', async (_, table) => {
    const projection = ['head', 'payments', 'balances', 'burn_totals'].some((name) => table.name === `ledger.${name}`)
    for (const statement of writesTo(table).filter((statement) => !statement.startsWith('merge'))) {
      expect(await refusalOf(owner, statement), statement).toBe(insufficientPrivilege)
      // Even as the write path, a row that is there is neither changed (log) nor taken away (log and projections).
      const isAddition = statement.startsWith('insert') || (projection && statement.startsWith('update'))
      if (isAddition) continue
      expect(await refusalOf(owner, statement, "set local ledger.writing = 'on'"), statement).toBe(
        insufficientPrivilege,
      )
    }
    expect(await refusalOf(owner, `merge into ${table.name} using (select 1) s on true when matched then delete`)).toBe(
      insufficientPrivilege,
    )
  })
})

test.each(book.map((table) => [table.name, table] as const))(
  'I22: the triggers of %s hold for a superuser too, and in a session that replays a replica',
  async (_, table) => {
    for (const statement of writesTo(table).filter((statement) => !statement.startsWith('merge'))) {
      const refusal = await refusalOf(admin, statement, 'set local session_replication_role = replica')
      expect(refusal, statement).toBe(insufficientPrivilege)
    }
  },
)

test('I22: a refused change leaves the row as it was', async () => {
  const read = async () => (await admin.query('select * from ledger.events order by seq')).rows
  const before = await read()
  await refusalOf(owner, "update ledger.events set body = '\\x00'")
  await refusalOf(owner, 'truncate ledger.events cascade')
  expect(await read()).toEqual(before)
})

test('every function of the write path pins its search path, so that nobody can slip a table or operator under it', async () => {
  const { rows } = await admin.query<{ name: string; config: readonly string[] | null }>(`
    select p.proname as name, p.proconfig as config from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('ledger', 'paywall') and p.prosecdef order by 1`)
  expect(rows.length).toBe(5)
  for (const { name, config } of rows) expect(config, name).toContain('search_path=""')
})
