import { readBlock } from './copyRow.ts'
import type { CopyBlock } from './copyOut.ts'
import type { AccountsByNumber } from './matchAccounts.ts'
import type { RawEvent } from './rawEvent.ts'

/**
 * Returns the query for the events after a position. Other columns precede the body, because hashing overwrites the
 * `leafRoom` bytes before the body. These columns are read first.
 */
export const eventsQuery = (afterPosition: number): string =>
  `select seq, stream, version, schema_version, recorded_at, effective_at, kind, debits, credits, amounts, body, leaf_hash
   from ledger.events where seq > ${afterPosition} order by seq`

/** Reads the events in a block. Each event uses the row's buffer, so that the body is not copied. */
export function readEventBlock(block: CopyBlock, accounts: AccountsByNumber, onEvent: (event: RawEvent) => void): void {
  readBlock(block, (row) => {
    const [position, stream, version, schemaVersion] = [row.int64(), row.int64(), row.int32(), row.int16()]
    const [recordedAtMs, effectiveAtMs, kind] = [row.timeMs() ?? 0, row.timeMs() ?? 0, row.latin1()]
    const [debits, credits, amounts] = [row.int32s(accounts), row.int32s(accounts), row.numerics()]
    row.next()
    const { bytes, start: bodyStart, end: bodyEnd } = row
    const leafHash = row.latin1()
    const columns = { stream, version, kind, schemaVersion, effectiveAtMs, postings: { debits, credits, amounts } }
    onEvent({ position, recordedAtMs, bytes, bodyStart, bodyEnd, leafHash, columns })
  })
}
