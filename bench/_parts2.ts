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
const N = 16
const b = appendArguments(Array.from({ length: N }, () => paymentItem(claimOf(sampleSettlement()).change)))
const batch = JSON.parse(b.batch)
async function time(name: string, text: string, values: unknown[]) {
  const q = () => client.query({ name, text, values })
  for (let i = 0; i < 30; i++) await q()
  const c = cpu(); for (let i = 0; i < 300; i++) await q()
  console.log(name.padEnd(34), ((cpu() - c) / 300).toFixed(0), 'us')
}
await time('select 1', 'select 1', [])
await time('send only', 'select length($1::text), length($2::bytea)', [b.batch, b.bodies])
await time('jsonb parse', 'select jsonb_typeof($1::jsonb), length($2::bytea)', [b.batch, b.bodies])
const item = `select count(*), max(i.n) from jsonb_to_recordset(batch -> 'items') as i (n integer, stream text, signature text, expected integer, version integer, state text, wallet text, endpoint text, attempt integer, lease_ms integer, quote_id text, idempotency_key text, order_digest text, answer text)`
const ev = `select count(*), max(k) from jsonb_to_recordset(batch -> 'events') as e (i integer, k integer, version integer, kind text, schema_version smallint, effective_at timestamptz, start integer, length integer)`
const en = `select count(*), sum(amount) from jsonb_to_recordset(batch -> 'entries') as t (i integer, k integer, line smallint, account text, mint text, amount numeric)`
await time('items', `with b as materialized (select $1::jsonb as batch) select (select count(*) from (${item.replace('batch', 'b.batch').replace('from jsonb', 'from b, jsonb')}) x)`, [b.batch])
await time('events', `with b as materialized (select $1::jsonb as batch) select (select count(*) from (${ev.replace('batch', 'b.batch').replace('from jsonb', 'from b, jsonb')}) x)`, [b.batch])
await time('entries', `with b as materialized (select $1::jsonb as batch) select (select count(*) from (${en.replace('batch', 'b.batch').replace('from jsonb', 'from b, jsonb')}) x)`, [b.batch])
const col = (rows: any[], k: string) => rows.map((r) => r[k])
const E = batch.events, T = batch.entries, I = batch.items
await time('entries unnest', `select count(*), sum(amount) from unnest($1::int[], $2::int[], $3::smallint[], $4::text[], $5::text[], $6::numeric[]) as t (i,k,line,account,mint,amount)`, ['i', 'k', 'line', 'account', 'mint', 'amount'].map((k) => col(T, k)))
await time('events unnest', `select count(*), max(k) from unnest($1::int[], $2::int[], $3::int[], $4::text[], $5::smallint[], $6::timestamptz[], $7::int[], $8::int[]) as t (i,k,version,kind,sv,at,start,length)`, ['i', 'k', 'version', 'kind', 'schema_version', 'effective_at', 'start', 'length'].map((k) => col(E, k)))
await time('items unnest', `select count(*) from unnest($1::int[], $2::text[], $3::text[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::text[]) as t`, ['n', 'stream', 'signature', 'expected', 'version', 'state', 'wallet', 'endpoint', 'attempt', 'lease_ms', 'quote_id', 'idempotency_key', 'order_digest', 'answer'].map((k) => col(I, k)))

const items = JSON.stringify(I), events = JSON.stringify(E), entries = JSON.stringify(T)
for (const t of ['json', 'jsonb']) {
const all = `select (select count(*) from (select count(*), max(i.n) from ${t}_to_recordset($1::${t}) as i (n integer, stream text, signature text, expected integer, version integer, state text, wallet text, endpoint text, attempt integer, lease_ms integer, quote_id text, idempotency_key text, order_digest text, answer text)) a),
 (select count(*) from (select count(*), max(k) from ${t}_to_recordset($2::${t}) as e (i integer, k integer, version integer, kind text, schema_version smallint, effective_at timestamptz, start integer, length integer)) b),
 (select count(*) from (select count(*), sum(amount) from ${t}_to_recordset($3::${t}) as t (i integer, k integer, line smallint, account text, mint text, amount numeric)) c)`
await time(t + ' three', all, [items, events, entries])
}
const arrs = [...['n', 'stream', 'signature', 'expected', 'version', 'state', 'wallet', 'endpoint', 'attempt', 'lease_ms', 'quote_id', 'idempotency_key', 'order_digest', 'answer'].map((k) => col(I, k)), ...['i', 'k', 'version', 'kind', 'schema_version', 'effective_at', 'start', 'length'].map((k) => col(E, k)), ...['i', 'k', 'line', 'account', 'mint', 'amount'].map((k) => col(T, k))]
await time('arrays three', `select (select count(*) from unnest($1::int[], $2::text[], $3::text[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::text[]) as t),
(select count(*) from unnest($15::int[], $16::int[], $17::int[], $18::text[], $19::smallint[], $20::timestamptz[], $21::int[], $22::int[]) t), (select sum(amount) from unnest($23::int[], $24::int[], $25::smallint[], $26::text[], $27::text[], $28::numeric[]) as t (i,k,line,account,mint,amount))`, arrs)
// one text, split by separators
const tsv = I.map((r: any) => Object.values(r).map((v) => v ?? '').join('\t')).join('\n')
await time('items string_to_table', `select count(r[1]) from (select string_to_array(l, E'\\t') as r from string_to_table($1, E'\\n') l) x`, [tsv])
await client.end()
