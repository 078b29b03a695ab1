import type pg from 'pg'
import { assert } from '@tollbook/core/assert'
import type { RecordedEvent } from './port.ts'
import { type QueryRunner, readOrFault } from './database.ts'
import { queryPrepared } from './queryPrepared.ts'
import { byteaArray } from './wire.ts'

const columns = `seq, version, kind, schema_version as "schemaVersion", recorded_at as "recordedAt", effective_at as "effectiveAt",
  body, encode(leaf_hash, 'hex') as "leafHash"`

const readOne = `select ${columns} from ledger.read($1)`
const readSome = `select id, ${columns} from ledger.read_many($1)`

interface EventRow extends pg.QueryResultRow, Pick<RecordedEvent, 'version' | 'kind' | 'schemaVersion' | 'leafHash'> {
  readonly seq: string | number
  readonly recordedAt: Date
  readonly effectiveAt: Date
  readonly body: Buffer
}

/**
 * Returns the events in the order of their versions. Empty for an unknown stream. Throws a retryable `Fault` if the
 * database does not answer.
 */
export async function readEvents(runner: QueryRunner, stream: Uint8Array): Promise<readonly RecordedEvent[]> {
  const { rows } = await readOrFault('a stream', () =>
    queryPrepared(runner, 'ledger_read', (statement) =>
      runner.query<EventRow>({ ...statement, text: readOne, values: [Buffer.from(stream)] }),
    ),
  )
  return numbered(rows.map(recorded))
}

// Streams per query. A stream has about five events of 500 bytes, so an answer has about 2.5 MB.
const streamsMax = 1_000

/** Returns the events in the order of `streams`. A stream without events is an empty list. */
export async function readManyEvents(
  runner: QueryRunner,
  streams: readonly Uint8Array[],
): Promise<readonly (readonly RecordedEvent[])[]> {
  const found = new Map<string, RecordedEvent[]>()
  for (let from = 0; from < streams.length; from += streamsMax) {
    const values = [byteaArray(streams.slice(from, from + streamsMax))]
    const { rows } = await readOrFault('streams', () =>
      queryPrepared(runner, 'ledger_read_many', (statement) =>
        runner.query<EventRow & { readonly id: Buffer }>({ ...statement, text: readSome, values }),
      ),
    )
    for (const row of rows) {
      const key = row.id.toString('latin1')
      const events = found.get(key)
      if (events === undefined) found.set(key, [recorded(row)])
      else events.push(recorded(row))
    }
  }
  return streams.map((stream) => numbered(found.get(streamKey(stream)) ?? []))
}

function numbered(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  assert(
    events.every(({ version }, index) => version === index + 1),
    'the events of a stream are numbered without a gap',
  )
  return events
}

export function streamKey(stream: Uint8Array): string {
  return Buffer.from(stream.buffer, stream.byteOffset, stream.byteLength).toString('latin1')
}

function recorded({ seq, recordedAt, effectiveAt, ...row }: EventRow): RecordedEvent {
  const { version, kind, schemaVersion, body, leafHash } = row
  const times = { recordedAtMs: recordedAt.getTime(), effectiveAtMs: effectiveAt.getTime() }
  return { position: Number(seq), version, kind, schemaVersion, ...times, body, leafHash }
}
