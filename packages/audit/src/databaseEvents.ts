import { CopyRow } from './copyRow.ts'
import type { CopyBlock } from './copyOut.ts'
import type { RawEvent } from './rawEvent.ts'

/** The columns in an order that leaves room in front of the body: what stands there has been read by then. */
export const eventsQuery = (afterPosition: number): string =>
  `select seq, version, schema_version, recorded_at, effective_at, stream, kind, body, leaf_hash
   from ledger.events where seq > ${afterPosition} order by seq`

/** Calls back for each event of a block. The event's bytes are the block's and are gone with it. */
export function readEventBlock({ bytes, starts, count }: CopyBlock, onEvent: (event: RawEvent) => void): void {
  const row = new CopyRow()
  for (let index = 0; index < count; index++) {
    row.open(bytes, starts[index] ?? 0)
    const position = row.int64()
    const version = row.int32()
    const schemaVersion = row.int16()
    const recordedAtMs = row.timeMs() ?? 0
    const effectiveAtMs = row.timeMs() ?? 0
    const stream = row.latin1()
    const kind = row.latin1()
    row.next()
    const { start: bodyStart, end: bodyEnd } = row
    const leafHash = row.latin1()
    const columns = { stream, version, kind, schemaVersion, effectiveAtMs }
    onEvent({ position, recordedAtMs, bytes, bodyStart, bodyEnd, leafHash, columns })
  }
}
