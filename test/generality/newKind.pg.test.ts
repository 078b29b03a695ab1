import { cp, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { text } from 'node:stream/consumers'
import { assert } from '@tollbook/core/assert'
import { canonicalText } from '@tollbook/core/canonicalJson'
import { migrate } from '@tollbook/ledger/migrate'
import { silentLog } from '../../src/machine/log.ts'
import { readQuestion } from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import { createReports } from '../../src/reports/reports.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { openDatabase } from '../../src/store/database.ts'
import { schemaSources } from '../../src/store/migrate.ts'
import { recordBody } from '../../src/store/recordBody.ts'
import { seedPayment } from '../reports/seedPayment.ts'
import { openInstance } from '../store/instance.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

/* A kind of stream that people write: one file declares it, and has the function that records it. */

const goodwill = `
insert into ledger.kinds (kind, space, id_bytes) values ('goodwill', 9, 1)
on conflict (kind) do update set space = excluded.space, id_bytes = excluded.id_bytes;
insert into ledger.steps (step, kind, from_state, to_state, event_kinds, moves, writer) values
  ('goodwill.grant', 'goodwill', '', 'granted', '{GoodwillGranted}', '{granted>refund}', 'finance')
on conflict (step, from_state, event_kinds) do update set writer = excluded.writer;

create or replace function ledger.record_goodwill(body bytea)
returns table (refusal text, seq bigint, leaf_hash bytea, recorded_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  said constant jsonb := convert_from(record_goodwill.body, 'UTF8')::jsonb;
begin
  return query select t.refusal, t.seq, t.leaf_hash, t.recorded_at from ledger.append_one(
    'finance', 'goodwill.grant', decode('09' || (said ->> 'key'), 'hex'), 0, record_goodwill.body, said ->> 'mint',
    array['Expenses:RefundsGranted'], array['Liabilities:RefundsDue:' || (said ->> 'wallet')],
    array[(said ->> 'amountBaseUnits')::numeric]) t;
end
$$;
grant execute on function ledger.record_goodwill to tollbook_finance;`

const { serviceUrl, ownerUrl, adminUrl } = await createTestDatabase()
const root = await makeScratchDirectory()
await cp(schemaSources.numbered, root, { recursive: true })
await writeFile(`${root}/kinds/goodwill.sql`, goodwill)
const sources = { numbered: root, code: [`${root}/functions`, `${root}/kinds`] }
const applied = await migrate({ databaseUrl: ownerUrl, sources })

function openAs(databaseUrl: string) {
  const database = openDatabase({ databaseUrl, applicationName: 'decisions', connectionsMax: 2, log: silentLog })
  afterFile(() => database.destroy())
  return database
}

const financeUrl = await makeMemberLogin(adminUrl, 'tollbook_finance', 'tollbook_reader')
const [finance, service] = [openAs(financeUrl), openAs(serviceUrl)]
const login = new URL(financeUrl).username
const wallet = sampleAddress()
const decided = { schemaVersion: 1, version: 1, mint: sampleMint, wallet, by: 'mira', login }
const goodwillOf = (key: string, more: object) =>
  canonicalText({ ...decided, kind: 'GoodwillGranted', stream: `goodwill:${key}`, key, ...more })

const record = (call: 'record_goodwill' | 'record_refund', body: string, database = finance) =>
  recordBody(database, { call, role: 'tollbook_finance', bodies: [body], whenLost: 'record it again' })

const reports = createReports(finance, { mint: sampleMint, decimals: 6 })

async function decisions(given: Record<string, string> = {}) {
  const question = readQuestion('decision-log', given)
  assert(!isProblems(question), JSON.stringify(question))
  while ((await rollUp(service)) > 0);
  return (await reports.table('decision-log', question)).read
}

test('the migration applies the file of a new kind, and only members of its role record its events', async () => {
  expect(applied).toEqual(['kinds/goodwill'])
  const body = goodwillOf('01', { effectiveAt: '2026-10-31T23:59:59.999Z', amountBaseUnits: '7', reason: '=late' })
  await expect(record('record_goodwill', body, service)).rejects.toThrow('not a member of tollbook_finance')
  expect(await record('record_goodwill', body)).toMatchObject({ refusal: undefined, position: 1 })
  expect(await record('record_goodwill', body), 'once').toEqual({ refusal: 'conflict' })
})

test('the report of decisions has those of the new kind and those about refunds, each with its own amount', async () => {
  const payment = { wallet, endpoint: '/api/data/crypto', requiredBaseUnits: 1_000n, overpaidBaseUnits: 5n }
  const blockTimeMs = Date.parse('2026-11-01T00:00:00Z')
  const reference = await seedPayment(await openInstance(serviceUrl), { ...payment, blockTimeMs, end: 'finalized' })
  const refund = { ...decided, payment: reference, stream: reference.replace('solana', 'refund'), role: 'support' }
  const overpaid = { account: `Liabilities:Overpaid:${wallet}`, baseUnits: '2' }
  const due = { account: `Liabilities:RefundsDue:${wallet}`, baseUnits: '3' }
  const at = { effectiveAt: '2026-11-01T00:00:00.000Z', reason: 'ticket 1' }
  await record('record_refund', canonicalText({ ...refund, ...at, kind: 'RefundApproved', debts: [overpaid, due] }))
  const grant = { ...refund, ...at, kind: 'RefundGranted', version: 2, amountBaseUnits: '400' }
  await record('record_refund', canonicalText(grant))
  const { rows, totals } = await decisions()
  const [granted, approved, given] = rows
  expect(rows).toHaveLength(3)
  expect(granted).toMatchObject({
    decision: 'RefundGranted',
    reference,
    grantedBaseUnits: 400n,
    approvedBaseUnits: null,
  })
  expect(approved).toMatchObject({
    decision: 'RefundApproved',
    role: 'support',
    grantedBaseUnits: null,
    approvedBaseUnits: 5n,
  })
  expect(given).toMatchObject({
    decision: 'GoodwillGranted',
    stream: 'goodwill:01',
    decidedBy: 'mira',
    login,
    position: 1,
  })
  expect(totals).toEqual({ grantedBaseUnits: 407n, approvedBaseUnits: 5n })
})

test('the decisions of a month, of a mint and of each page are those of the report, and its CSV is safe', async () => {
  const at = { effectiveAt: '2026-12-05T00:00:00.000Z', amountBaseUnits: '9', reason: 'other' }
  await record('record_goodwill', goodwillOf('02', { ...at, mint: sampleAddress() }))
  expect(await decisions({ month: '2026-10' })).toMatchObject({
    rows: [{ decidedAt: '2026-10-31T23:59:59.999Z' }],
    totals: { grantedBaseUnits: 7n, approvedBaseUnits: 0n },
  })
  expect((await decisions({ from: '2026-11-01' })).rows).toHaveLength(2)
  const whole = await decisions()
  const first = await decisions({ limit: '2' })
  const second = await decisions({ limit: '2', cursor: first.next ?? '' })
  expect([...first.rows, ...second.rows]).toEqual(whole.rows)
  expect(second.next).toBeUndefined()
  const question = readQuestion('decision-log', {})
  assert(!isProblems(question), 'it has no problem')
  expect(await text((await reports.csv('decision-log', question)).read)).toContain("'=late")
})
