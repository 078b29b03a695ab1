import { CopyRow } from './copyRow.ts'
import type { CopyBlock } from './copyOut.ts'
import type { AccountsByNumber } from './matchAccounts.ts'
import type { RawEvent } from './rawEvent.ts'

/** The columns in front of the body have been read before their bytes are overwritten by the prefix of the leaf. */
export const eventsQuery = (afterPosition: number): string =>
  `select seq, stream, version, schema_version, recorded_at, effective_at, kind, debits, credits, amounts, body, leaf_hash
   from ledger.events where seq > ${afterPosition} order by seq`

/** Calls back for each event of a block. The event's bytes belong to the block and are valid only during the call. */
export function readEventBlock(
  { bytes, starts, count }: CopyBlock,
  accounts: AccountsByNumber,
  onEvent: (event: RawEvent) => void,
): void {
  const row = new CopyRow()
  for (let index = 0; index < count; index++) {
    row.open(bytes, starts[index] ?? 0)
    const position = row.int64()
    const stream = row.int64()
    const version = row.int32()
    const schemaVersion = row.int16()
    const recordedAtMs = row.timeMs() ?? 0
    const effectiveAtMs = row.timeMs() ?? 0
    const kind = row.latin1()
    const debits = row.int32s(accounts)
    const credits = row.int32s(accounts)
    const amounts = row.numerics()
    row.next()
    const { start: bodyStart, end: bodyEnd } = row
    const leafHash = row.latin1()
    const postings = { debits, credits, amounts }
    const columns = { stream, version, kind, schemaVersion, effectiveAtMs, postings }
    onEvent({ position, recordedAtMs, bytes, bodyStart, bodyEnd, leafHash, columns })
  }
}
