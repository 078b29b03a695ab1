import { Fault } from '@tollbook/core/fault'
import { type Checkpoint, readCheckpoint } from '@tollbook/core/checkpoint'
import { nextMonth } from '@tollbook/core/closingStatement'
import { isoTime } from '@tollbook/core/clock'
import { newestCheckpoint } from '../../store/sealStore.ts'
import { lastPositionOf } from '../export/exportRange.ts'
import { lastDayOf } from '../reportQuestion.ts'
import { reportPosition } from '../rollUp.ts'
import type { Database } from '../../store/database.ts'

export interface ClosingRange {
  readonly from: string
  readonly to: string
  /** Last position of the previous month. */
  readonly opening: number
  readonly position: number
  /**
   * Range of positions after `statedUpto`, up to `rolledUpto`. The reports contain these events, but no statement
   * contains them yet.
   */
  readonly statedUpto: number
  readonly rolledUpto: number
  readonly isFinal: boolean
  readonly closesAtMs: number
  readonly checkpoint: Checkpoint & { readonly note: string }
}

const dayMs = 86_400_000
// Wait after the close of a month. The clocks of the service and the database differ, so an event of the month may
// still be recorded during this time.
const clockToleranceMs = 10 * 60_000
// Maximum of unsealed events, because they are read for the statement. The sealer lags by seconds.
export const unsealedMax = 20_000

/**
 * Returns the positions that the statement covers. A month that is not closed yet ends at the newest checkpoint,
 * because under load some events are always unsealed. If the reports are behind the checkpoint, the month ends at their
 * position.
 */
export async function closingRange(
  snapshot: Database,
  { month, nowMs }: { readonly month: string; readonly nowMs: number },
): Promise<ClosingRange | ClosingNotReady> {
  const { position: rolledUpto, headPosition } = await reportPosition(snapshot)
  const newest = await newestCheckpoint(snapshot)
  const checkpoint = newest === undefined ? undefined : readCheckpoint(newest.note)
  const sealedUpto = checkpoint?.size ?? 0
  const currentPosition = Math.min(rolledUpto, sealedUpto)
  const isFinalAt = (closeMs: number) => nowMs >= closeMs + clockToleranceMs
  const cut = async (closeMs: number) =>
    isFinalAt(closeMs) ? lastPositionOf(snapshot, { kind: 'moment', ms: closeMs }, headPosition) : currentPosition
  const closesAtMs = closeOf(month)
  const isFinal = isFinalAt(closesAtMs)
  const [opening, position] = [await cut(closeOf(previousMonth(month))), await cut(closesAtMs)]
  const required = Math.max(opening, position)
  if (rolledUpto < required)
    return new ClosingNotReady(`the reports have reached position ${rolledUpto} of ${required}`)
  const isBehind = !isFinal && rolledUpto - currentPosition > unsealedMax
  if (newest === undefined || checkpoint === undefined || sealedUpto < required || isBehind)
    return new ClosingNotReady(
      `the events are sealed up to position ${sealedUpto} of ${isBehind ? rolledUpto : required}`,
    )
  const statedUpto = isFinal ? rolledUpto : currentPosition
  const { note } = newest
  return {
    from: `${month}-01`,
    to: lastDayOf(month),
    opening,
    position,
    statedUpto,
    rolledUpto,
    isFinal,
    closesAtMs,
    checkpoint: { ...checkpoint, note },
  }
}

/**
 * Thrown if the reports or checkpoints have not reached the positions of the statement. The message contains no
 * secrets.
 */
export class ClosingNotReady extends Fault {
  override readonly name = 'ClosingNotReady'

  constructor(what: string) {
    super(`${what}; try again in 2 s, and see that the service runs`, { retryable: true })
  }
}

/** Returns the close of a month: one day after its end in UTC, like reports.month_closed_at. */
function closeOf(month: string): number {
  return Date.parse(`${nextMonth(month)}-01T00:00:00.000Z`) + dayMs
}

function previousMonth(month: string): string {
  return isoTime(Date.parse(`${month}-01T00:00:00.000Z`) - dayMs).slice(0, 7)
}
