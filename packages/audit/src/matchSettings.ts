import { UnreadableBody } from './bodyReader.ts'
import { readEvent } from './auditedEvent.ts'
import type { DatabaseSource } from './databaseSource.ts'
import type { Replay } from './replay.ts'
import { streamOfId } from './streamName.ts'

/* The small tables that are derived from the events: settings, keys without an end, and the head. */

interface SettingRow {
  readonly name: string
  readonly number: number
  readonly seq: string
  readonly valid_from_ms: string | null
  readonly body: Buffer | null
}

export async function matchSettings(replay: Replay, source: DatabaseSource): Promise<void> {
  const rows = await source.rows<SettingRow>(
    `select name, number, seq, (extract(epoch from valid_from) * 1000)::text as valid_from_ms, body
     from ledger.settings order by name, number`,
  )
  const blame = (position: number | undefined, subject: string, message: string): void => {
    replay.findings.add('setting_differs', { position, subject, message })
  }
  const stored = new Map(rows.map((row) => [`${row.name}#${row.number}`, row]))
  for (const { name, number, position, validFromMs, digest } of replay.settings.all()) {
    const key = `${name}#${number}`
    const row = stored.get(key)
    stored.delete(key)
    if (row === undefined) blame(position, key, 'the event has no row')
    else if (Number(row.seq) !== position) blame(position, key, `the row names position ${row.seq}`)
    else if (row.body === null || replay.digest.of(row.body.toString('latin1')) !== digest)
      blame(position, key, 'the row has another body')
    else if (Number(row.valid_from_ms) !== validFromMs) blame(position, key, 'the row has another time')
    else if (effectiveAtOf(row.body) !== validFromMs) blame(position, key, 'the body has another time')
  }
  for (const [key, { seq }] of stored) blame(Number(seq), key, 'the row has no event')
}

function effectiveAtOf(body: Buffer): number | undefined {
  try {
    return readEvent(body.toString('latin1')).effectiveAtMs
  } catch (error) {
    if (error instanceof UnreadableBody) return undefined
    throw error
  }
}

interface KeyRow {
  readonly space: number
  readonly key: Buffer | null
  readonly id: Buffer | null
  readonly digest: Buffer | null
}

// A burn is one round of its mint: `<mint>#<round>`.
const roundSpace = 11

/** Keys that never end: each round of burning has one. Keys with an end are not part of the ledger. */
export async function matchKeys({ payouts, findings }: Replay, source: DatabaseSource): Promise<void> {
  const rows = await source.rows<KeyRow>('select space, key, id, digest from ledger.keys where until is null')
  const blame = (position: number | undefined, subject: string, message: string): void => {
    findings.add('key_differs', { position, subject, message })
  }
  const stored = new Map(rows.map((row) => [`${row.space} ${row.key?.toString('latin1')}`, row]))
  for (const { mint, round, stream, position } of payouts.rounds()) {
    const key = `${roundSpace} ${mint}#${round}`
    const row = stored.get(key)
    stored.delete(key)
    if (row === undefined) blame(position, stream, `round ${round} has no key: it could be burned again`)
    else if (row.id === null || streamOfId(row.id) !== stream)
      blame(position, stream, `the key of round ${round} names another stream`)
    else if (row.digest !== null) blame(position, stream, `the key of round ${round} has a digest`)
  }
  for (const key of stored.keys()) blame(undefined, `key ${key}`, 'the key has no event')
}

interface HeadRow {
  readonly seq: string
  readonly recorded_ms: string
  readonly leaf_hash: string | null
}

/** The head must name the last event that was replayed. */
export async function matchHead(replay: Replay, source: DatabaseSource): Promise<void> {
  const { position, recordedAtMs, lastLeaf, findings } = replay
  // Through JSON, because older databases do not have the hash.
  const rows = await source.rows<HeadRow>(
    `select h.seq, (extract(epoch from h.recorded_at) * 1000)::text as recorded_ms, to_jsonb(h) ->> 'leaf_hash' as leaf_hash
     from ledger.head h`,
  )
  const [head] = rows
  const stated = Number(head?.seq ?? -1)
  if (rows.length !== 1 || stated !== position) {
    // The first position that is there and should not be, or should be there and is not.
    const message = `the head is at ${head?.seq ?? 'nothing'}, the last event at ${position}`
    findings.add('head_differs', { position: Math.min(stated, position) + 1, subject: 'head', message })
  } else if (position > 0 && Number(head?.recorded_ms) !== recordedAtMs) {
    findings.add('head_differs', { position, subject: 'head', message: 'the head was recorded at another time' })
  } else if (position > 0 && (head?.leaf_hash ?? hexOf(lastLeaf)) !== hexOf(lastLeaf)) {
    findings.add('head_differs', { position, subject: 'head', message: 'the head has the hash of another event' })
  }
}

/** As Postgres writes bytes. */
function hexOf(latin1: string): string {
  return `\\x${Buffer.from(latin1, 'latin1').toString('hex')}`
}
