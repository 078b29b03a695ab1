import { encodeBase64 } from '@tollbook/core/base64'
import { type ClosingStatement, nextMonth } from '@tollbook/core/closingStatement'
import { isoTime } from '@tollbook/core/clock'
import { type Database, readOrFault } from '../../store/database.ts'
import { type DayPrice, priceOn } from '../dayPrice.ts'
import type { LedgerToken } from '../ledgerToken.ts'
import { closingFigures } from './closingFigures.ts'
import { readLines, statedPrices } from './closingLines.ts'
import { ClosingNotReady, closingRange } from './closingRange.ts'
import { lateEntries } from './lateEntries.ts'

/** The statement of a month is preliminary until 10 minutes after the close of the month, and then final. */
export interface ClosingQuestion {
  readonly token: LedgerToken
  /** Month in UTC, such as `2026-10`. */
  readonly month: string
  readonly nowMs: number
}

/** `checkpoint` is the signed note of the statement's tree. */
export interface UnsignedClosing {
  readonly statement: ClosingStatement
  readonly checkpoint: string
}

/** Reads from one snapshot, so that figures, late entries and checkpoint agree. */
export async function readClosing(database: Database, question: ClosingQuestion): Promise<UnsignedClosing> {
  const read = await readOrFault('the closing statement', () =>
    database
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((snapshot) => statementIn(snapshot, question)),
  )
  // Throw the error after the call, because `readOrFault` would turn it into a fault of the database.
  if (read instanceof ClosingNotReady) throw read
  return read
}

async function statementIn(snapshot: Database, question: ClosingQuestion): Promise<UnsignedClosing | ClosingNotReady> {
  const { token, month, nowMs } = question
  const found = await closingRange(snapshot, question)
  if (found instanceof ClosingNotReady) return found
  const range = { ...found, mint: token.mint }
  const { origin, size: treeSize, root, note } = range.checkpoint
  const price = await priceOn(snapshot, { mint: token.mint, day: range.to, prices: statedPrices(range) })
  const restated = await lateEntries(snapshot, {
    ...range,
    after: range.opening,
    upto: range.position,
    before: range.from,
  })
  const later = await lateEntries(snapshot, {
    ...range,
    after: range.position,
    upto: treeSize,
    before: `${nextMonth(month)}-01`,
  })
  const statement: ClosingStatement = {
    format: 'tollbook-closing',
    version: 1,
    origin,
    ...token,
    month,
    status: range.isFinal ? 'final' : 'preliminary',
    closesAt: isoTime(range.closesAtMs),
    position: range.position,
    treeSize,
    root: encodeBase64(root),
    closingPrice: price === undefined ? null : shownPrice(price),
    ...closingFigures(await readLines(snapshot, range), price),
    restated: restated.entries,
    restatedCount: restated.count,
    recordedLater: later.entries,
    recordedLaterCount: later.count,
    issuedAt: isoTime(nowMs),
  }
  return { statement, checkpoint: note }
}

function shownPrice({ day, priceMicroUsd, forBaseUnits }: DayPrice): ClosingStatement['closingPrice'] {
  return { day, priceMicroUsd: priceMicroUsd.toString(), forBaseUnits: forBaseUnits.toString() }
}
