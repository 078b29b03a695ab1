import { readCheckpoint } from '@tollbook/core/checkpoint'
import { encodeBase64 } from '@tollbook/core/base64'
import { Fault } from '@tollbook/core/fault'
import { rootAt } from '../../store/sealer.ts'
import { headPosition, type StoredCheckpoint } from '../../store/sealStore.ts'
import { reportPosition } from '../rollUp.ts'
import { readLedgerMints } from '../../store/ledgerMints.ts'
import { type Bound, firstPositionOf, lastPositionOf } from './exportRange.ts'
import { type Database, readRows } from '../../store/database.ts'

export interface ExportScope {
  readonly fromPosition: number
  readonly toPosition: number
  /** Number of leaves: the tree covers positions 1 to `toPosition`, even if the export starts later. */
  readonly treeSize: number
  /** Root of the tree in base64, as in checkpoints. */
  readonly root: string
  /**
   * Signed note of the newest checkpoint with at most `treeSize` leaves, so that a reader can tie the export to a
   * signature. Null if there is no such checkpoint.
   */
  readonly checkpoint: string | null
  readonly origin: string | null
  /** The only mint of the ledger. Null in a ledger with several mints, or with none. */
  readonly mint: string | null
  /** True if the reports have reached the end of the range. False: the export has no values in dollars. */
  readonly isValued: boolean
}

export interface ExportRange {
  readonly from: Bound | undefined
  readonly to: Bound | undefined
}

/**
 * Returns the range of an export, and the tree up to its end. Throws if the range is empty, or if an event that no
 * checkpoint covers differs from what was recorded. A damaged ledger needs an audit and not an export.
 */
export async function scopeOf(snapshot: Database, { from, to }: ExportRange): Promise<ExportScope> {
  const head = await headPosition(snapshot)
  const toPosition = to === undefined ? head : Math.min(head, await lastPositionOf(snapshot, to, head))
  const fromPosition = from === undefined ? 1 : await firstPositionOf(snapshot, from, head)
  if (fromPosition > toPosition + 1) {
    throw new Fault(`the range is empty: it begins at position ${fromPosition} and ends at ${toPosition}`, {
      retryable: false,
    })
  }
  const checkpoint = await checkpointUpTo(snapshot, toPosition)
  return {
    fromPosition,
    toPosition,
    treeSize: toPosition,
    root: encodeBase64(await rootAt(snapshot, toPosition)),
    checkpoint: checkpoint?.note ?? null,
    origin: checkpoint === undefined ? null : (readCheckpoint(checkpoint.note)?.origin ?? null),
    mint: await onlyMint(snapshot),
    isValued: (await reportPosition(snapshot)).position >= toPosition,
  }
}

async function checkpointUpTo(snapshot: Database, size: number): Promise<Pick<StoredCheckpoint, 'note'> | undefined> {
  const [newest] = await readRows(snapshot, 'the checkpoint of an export')<{ note: string }>`
    select note from ledger.checkpoints where size <= ${size} order by size desc limit 1`
  return newest
}

async function onlyMint(snapshot: Database): Promise<string | null> {
  const [only, ...others] = await readLedgerMints(snapshot)
  return others.length === 0 ? (only?.mint ?? null) : null
}
