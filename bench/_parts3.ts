import { readFileSync } from 'node:fs'
import { startLedgerServer } from './ledgerServer.ts'
import { claimOf, sampleSettlement } from '../test/store/samplePayment.ts'
import { paymentItem, appendArguments } from '../src/store/appendBatch.ts'
import pg from 'pg'
await using server = await startLedgerServer()
const db = await server.createDatabase()
const client = new pg.Client({ connectionString: db.adminUrl })
await client.connect()
const pid = (await client.query('select pg_backend_pid() as pid')).rows[0].pid
const cpu = () => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000
const N = 32
const b = appendArguments(Array.from({ length: N }, () => paymentItem(claimOf(sampleSettlement()).change)))
const { items: I, events: E, entries: T } = JSON.parse(b.batch)
const col = (rows: any[], k: string) => rows.map((r) => r[k])
const tests: [string, string, unknown[]][] = []
tests.push(['select 1', 'select 1', []])
tests.push(['jsonb parse', 'select jsonb_typeof($1::jsonb)', [b.batch]])
const rec = (j: string) => `select (select count(*) from (select n from jsonb_to_recordset(${j} -> 'items') as i (n integer, stream text, signature text, expected integer, version integer, state text, wallet text, endpoint text, attempt integer, lease_ms integer, quote_id text, idempotency_key text, order_digest text, answer text) offset 0) a),
 (select count(*) from (select k from jsonb_to_recordset(${j} -> 'events') as e (i integer, k integer, version integer, kind text, schema_version smallint, effective_at timestamptz, start integer, length integer) offset 0) b),
 (select sum(amount) from jsonb_to_recordset(${j} -> 'entries') as t (i integer, k integer, line smallint, account text, mint text, amount numeric))`
tests.push(['jsonb all', `with b as materialized (select $1::jsonb as batch) ${rec('(select batch from b)')}`, [b.batch]])
const sigs = Buffer.concat(I.map((r: any) => Buffer.from(r.signature, 'hex')))
const arr = [col(I, 'stream'), sigs, ...['expected', 'attempt', 'lease_ms'].map((k) => col(I, k)), ...['state', 'wallet', 'endpoint', 'quote_id', 'idempotency_key', 'order_digest', 'answer'].map((k) => col(I, k)), col(E, 'i'), col(E, 'kind'), E.map((e: any) => Date.parse(e.effective_at)), col(E, 'length'), T.map((t: any) => t.i * 3 + t.k), col(T, 'line'), col(T, 'account'), col(T, 'mint'), col(T, 'amount')]
tests.push(['arrays all', `select (select count(*) from (select * from unnest($1::text[], $3::int[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[]) as t (a,b) offset 0) x),
(select count(*) from (select * from unnest($13::int[], $14::text[], $15::bigint[], $16::int[]) t (a,b) offset 0) x), length($2::bytea), (select sum(amount) from unnest($17::int[], $18::smallint[], $19::text[], $20::text[], $21::numeric[]) as t (e,line,account,mint,amount))`, arr])
const small = { items: I.map(({ signature, version, ...r }: any) => r), events: E.map((e: any) => ({ i: e.i, k: e.k, kind: e.kind, at: Date.parse(e.effective_at), length: e.length, start: e.start })), entries: T }
tests.push(['jsonb reduced', `with b as materialized (select $1::jsonb as batch) select (select count(*) from (select n from jsonb_to_recordset((select batch from b) -> 'items') as i (n integer, stream text, expected integer, state text, wallet text, endpoint text, attempt integer, lease_ms integer, quote_id text, idempotency_key text, order_digest text, answer text) offset 0) a),
 (select count(*) from (select k from jsonb_to_recordset((select batch from b) -> 'events') as e (i integer, k integer, kind text, at bigint, start integer, length integer) offset 0) b),
 (select sum(amount) from jsonb_to_recordset((select batch from b) -> 'entries') as t (i integer, k integer, line smallint, account text, mint text, amount numeric))`, [JSON.stringify(small)]])
const res = new Map<string, number[]>()
for (let r = 0; r < 9; r++) for (const [name, text, values] of tests) {
  const q = () => client.query({ name, text, values })
  for (let i = 0; i < 5; i++) await q()
  const c = cpu(); for (let i = 0; i < 60; i++) await q()
  res.set(name, [...(res.get(name) ?? []), (cpu() - c) / 60])
}
for (const [k, v] of res) { v.sort((a, b) => a - b); console.log(k.padEnd(20), 'min', v[0]!.toFixed(0), 'med', v[4]!.toFixed(0)) }
await client.end()
