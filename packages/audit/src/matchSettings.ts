import { depositsOf } from './kinds/tabs.ts'
import { hash } from 'node:crypto'
import { readRows } from './copyRow.ts'
import type { DatabaseSource } from './databaseSource.ts'
import { streamOfId } from './kinds.ts'
import { burnRoundsOf } from './kinds/burn.ts'
import type { Replay } from './replay.ts'

/* Compares the small tables that are derived from the events: settings, keys that never expire, and the head. */

const settingsQuery = 'select name, number, seq, valid_from, body from ledger.settings order by name, number'

export async function matchSettings({ state, findings }: Replay, source: DatabaseSource): Promise<void> {
  const add = state.found('foundSettings', ['id', 'position', 'validFromMs', 'digest'])
  await readRows(source.copy(settingsQuery), (row) => {
    const [id, position, validFromMs] = [`${row.text() ?? ''}#${row.int32()}`, row.int64(), row.timeMs() ?? null]
    add(id, position, validFromMs, hash('sha256', row.blob(), 'hex'))
  })
  const differing = state.select(`
    select coalesce(s.id, f.id) as id, coalesce(s.position, f.position) as place, f.id is null as isMissing, s.id is null as isAdded,
      f.position is not s.position as isElsewhere, f.digest is not s.digest as hasOtherBody
    from main.settings s full join temp.foundSettings f on f.id = s.id
    where (s.position, s.validFromMs, s.digest) is not (f.position, f.validFromMs, f.digest)`)
  for (const { id, place, isMissing, isAdded, isElsewhere, hasOtherBody } of differing) {
    const message =
      isMissing === 1
        ? 'the event has no row'
        : isAdded === 1
          ? 'the row has no event'
          : `the row has another ${isElsewhere === 1 ? 'position' : hasOtherBody === 1 ? 'body' : 'time'}`
    findings.add('setting_differs', { position: Number(place), subject: String(id), message })
  }
}

interface KeyRow {
  readonly space: number
  readonly key: Buffer | null
  readonly id: Buffer | null
  readonly digest: Buffer | null
}

// Space of the keys of burn rounds. A key has the form `<mint>#<round>`.
const roundSpace = 11
// Space of the keys of deposits on tabs. A key has the bytes of the tab id, then the first bytes of the deposit's
// signature.
const depositSpace = 14

/** Compares the keys that never expire: each burn round and each deposit must have one. */
export async function matchKeys({ state, findings }: Replay, source: DatabaseSource): Promise<void> {
  const rows = await source.rows<KeyRow>('select space, key, id, digest from ledger.keys where until is null')
  const blame = (position: number | undefined, subject: string, message: string): void => {
    findings.add('key_differs', { position, subject, message })
  }
  const stored = new Map(rows.map((row) => [`${row.space} ${row.key?.toString('latin1')}`, row]))
  const rounds = burnRoundsOf(state).map(({ mint, round, ...place }) => {
    const name = `the key of round ${round}`
    return {
      ...place,
      key: `${roundSpace} ${mint}#${round}`,
      name,
      absent: `${name} is missing: it could be burned again`,
    }
  })
  const deposits = Array.from(depositsOf(state), ([stream, { key, position }]) => {
    const name = 'the key of the deposit'
    const absent = `${name} is missing: the tab does not find it`
    return { stream, position, key: `${depositSpace} ${key}`, name, absent }
  })
  for (const { key, stream, position, name, absent } of [...rounds, ...deposits]) {
    const row = stored.get(key)
    stored.delete(key)
    if (row === undefined) blame(position, stream, absent)
    else if (row.id === null || streamOfId(row.id) !== stream) blame(position, stream, `${name} names another stream`)
    else if (row.digest !== null) blame(position, stream, `${name} has a digest`)
  }
  for (const key of stored.keys()) blame(undefined, `key ${key}`, 'the key has no event')
}

interface HeadRow {
  readonly seq: string
  readonly recorded_ms: string
  readonly leaf_hash: string | null
}

export async function matchHead(replay: Replay, source: DatabaseSource): Promise<void> {
  const { position, recordedAtMs, findings, records } = replay
  // The text in which Postgres prints a `bytea`.
  const lastLeaf = `\\x${Buffer.from(records.lastLeaf, 'latin1').toString('hex')}`
  // Read the hash through JSON, because databases of older releases do not have the column.
  const rows = await source.rows<HeadRow>(
    `select h.seq, (extract(epoch from h.recorded_at) * 1000)::text as recorded_ms, to_jsonb(h) ->> 'leaf_hash' as leaf_hash
     from ledger.head h`,
  )
  const [head] = rows
  const stated = Number(head?.seq ?? -1)
  if (rows.length !== 1 || stated !== position) {
    // Report the first position that the head or the events do not have.
    const message = `the head is at ${head?.seq ?? 'nothing'}, the last event at ${position}`
    findings.add('head_differs', { position: Math.min(stated, position) + 1, subject: 'head', message })
  } else if (position > 0 && Number(head?.recorded_ms) !== recordedAtMs) {
    findings.add('head_differs', { position, subject: 'head', message: 'the head was recorded at another time' })
  } else if (position > 0 && (head?.leaf_hash ?? lastLeaf) !== lastLeaf) {
    findings.add('head_differs', { position, subject: 'head', message: 'the head has the hash of another event' })
  }
}
