import type { DatabaseSource } from './databaseSource.ts'
import type { Findings } from './findings.ts'
import { reportTables } from './matchReports.ts'

/*
 * Checks that every reader gets the same rows. A view, a foreign table, a policy or a computed column could show the
 * audit different rows than finance and the service.
 */

// Include partitions and inherited tables, because a query of the parent reads them. Include columns with foreign
// types, because functions of the type's owner write their values.
const tablesQuery = `
with recursive read as (
  select to_regclass(n.name) as oid from unnest($1::text[]) as n (name) where to_regclass(n.name) is not null
  union
  select i.inhrelid from pg_inherits i join read r on r.oid = i.inhparent
)
select c.oid::regclass::text as name, c.relkind in ('r', 'p') as is_table, c.relrowsecurity as has_policies,
  exists (
    select from pg_attribute a join pg_type t on t.oid = a.atttypid
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      and (t.typnamespace <> 'pg_catalog'::regnamespace or a.attgenerated = 'v')
  ) as is_computed
from read r join pg_class c on c.oid = r.oid
order by name`

const ledgerTables = [
  'events',
  'streams',
  'accounts',
  'tallies',
  'settings',
  'keys',
  'quotes',
  'head',
  'tiles',
  'checkpoints',
  'kinds',
  'steps',
  'classes',
]
const tables = [...ledgerTables.map((name) => `ledger.${name}`), ...reportTables.map((name) => `reports.${name}`)]

interface TableRow {
  readonly name: string
  readonly is_table: boolean
  readonly has_policies: boolean
  readonly is_computed: boolean
}

export async function matchTables(findings: Findings, source: DatabaseSource): Promise<void> {
  for (const row of await source.rows<TableRow>(tablesQuery, [tables])) {
    const differing = [
      !row.is_table && 'it is not a table',
      row.has_policies && 'it has row security',
      row.is_computed && 'a column is computed when it is read',
    ].filter((difference) => difference !== false)
    if (differing.length === 0) continue
    const message = `${differing.join('; ')}: it may show others than this audit other rows`
    findings.add('declaration_differs', { position: undefined, subject: `table ${row.name}`, message })
  }
}
