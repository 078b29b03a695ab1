import type { AuditState, StateRow } from './auditState.ts'
import { readRows } from './copyRow.ts'
import type { DatabaseSource } from './databaseSource.ts'
import type { Findings } from './findings.ts'
import { streamOfId } from './kinds.ts'
import type { Replay } from './replay.ts'
import { unknownMark } from './streams.ts'

/*
 * Compares the rows of `ledger.streams` with the streams of the replay. The primary key of these rows ensures that a
 * payment is used only once.
 */

const streamsQuery = 'select id, stream, kind, state, version, lease_until, seqs::text from ledger.streams'

const columns = ['firstPosition', 'kind', 'state', 'version', 'leaseUntilMs', 'positions'] as const

// Maximum of id bytes that a finding shows. The table permits ids of up to 256 bytes.
const idBytesShown = 256

export async function matchStreams({ state, findings }: Replay, source: DatabaseSource): Promise<void> {
  await readStreams(state, source)
  for (const row of state.select(differences)) judge(findings, row)
}

async function readStreams(state: AuditState, source: DatabaseSource): Promise<void> {
  const add = state.found('foundStreams', ['key', ...columns])
  await readRows(source.copy(streamsQuery), (row) => {
    const id = row.blob()
    const name = streamOfId(id) ?? `id ${id.subarray(0, idBytesShown).toString('hex')}`
    const [firstPosition, kind, step, version] = [row.int64(), row.latin1(), row.latin1(), row.int32()]
    add(name, firstPosition, kind, step, version, row.timeMs() ?? null, row.text() ?? null)
  })
  // Compare names only for known kinds. For other kinds, this auditor cannot derive the name from the id, so it
  // compares the first position.
  state.execute(`
    update temp.foundStreams set key = 'position ' || firstPosition
      where firstPosition in (select firstPosition from main.streams where kind like '${unknownMark}%');
    create index temp.foundByKey on foundStreams (key)`)
}

/** Selects the streams that differ. For unknown kinds, compares only what this auditor can derive. */
const differences = `
with derived as (
  select *, kind like '${unknownMark}%' as isUnknown,
    case when kind like '${unknownMark}%' then 'position ' || firstPosition else stream end as key
  from main.streams
)
select f.key as foundKey, d.key, d.isUnknown, d.lastPosition,
  ${columns.map((column) => `f.${column} as found_${column}, d.${column} as right_${column}`).join(', ')},
  exists (select 1 from temp.foundStreams o where o.key = f.key and o.rowid < f.rowid) as hasRow
from derived d full join temp.foundStreams f on f.key = d.key
where f.key is null or d.key is null or hasRow or (f.version, f.positions) is not (d.version, d.positions)
  or (not d.isUnknown and (f.firstPosition, f.kind, f.state, f.leaseUntilMs) is not (d.firstPosition, d.kind, d.state, d.leaseUntilMs))`

function judge(findings: Findings, row: StateRow): void {
  const [key, found] = [row['key'], row['foundKey']]
  const lastPosition = Number(row['lastPosition'])
  const stored = positionsOf(row['found_positions'])
  if (found === null) {
    const message = `the ${String(row['right_kind'])} of this event has no row: it could be recorded again`
    findings.add('stream_missing', { position: lastPosition, subject: String(key), message })
  } else if (key === null) {
    const message = 'there is a row, and no event of such a stream'
    findings.add('stream_unexpected', { position: stored.next().value, subject: String(found), message })
  } else {
    const own = new Set(positionsOf(row['right_positions']))
    // Report the first event that only the row names. If there is none, report the last event of the stream.
    const position = stored.find((position) => !own.has(position)) ?? lastPosition
    findings.add('stream_differs', { position, subject: String(key), message: describe(row) })
  }
}

function describe(row: StateRow): string {
  const compared = row['isUnknown'] === 1 ? (['version', 'positions'] as const) : columns
  const differing = compared
    .filter((column) => row[`found_${column}`] !== row[`right_${column}`])
    .map((column) => `${column} ${String(row[`found_${column}`])}, not ${String(row[`right_${column}`])}`)
  return `the row has ${[...(row['hasRow'] === 1 ? ['the stream of another row'] : []), ...differing].join('; ')}`
}

/** Yields the positions in a Postgres multirange, such as `{[3,6),[9,10)}`. */
function* positionsOf(ranges: unknown): Generator<number> {
  for (const [, from, behind] of String(ranges).matchAll(/\[(\d+),(\d+)\)/g))
    for (let position = Number(from); position < Number(behind); position++) yield position
}
