import { Fault } from '@tollbook/core/fault'
import type { AuditRun } from './auditRun.ts'
import type { ChainAudit } from './chainAudit.ts'
import type { Checkpoints } from './checkpoints.ts'
import { eventsQuery, readEventBlock } from './databaseEvents.ts'
import type { DatabaseSource } from './databaseSource.ts'
import { EntriesMatch, entriesQuery } from './matchEntries.ts'
import { matchPayments } from './matchPayments.ts'
import { matchQuotes, quotesQuery } from './matchQuotes.ts'
import { matchTotals } from './matchTotals.ts'
import type { Replay } from './replay.ts'

export interface AuditParts {
  readonly replay: Replay
  readonly run: AuditRun
  readonly checkpoints: Checkpoints
  readonly chain: ChainAudit | undefined
}

/** Events and entries side by side, then every table that can be derived from them. */
export async function auditDatabase(
  source: DatabaseSource,
  { replay, run, checkpoints, chain }: AuditParts,
): Promise<void> {
  const from = replay.position
  await checkSameBook(source, replay)
  // A book of before the seal has none.
  const hasTiles = await source.hasTable('ledger.tiles')
  if (!hasTiles) replay.tree.onSubtree = undefined
  const entries = new EntriesMatch(source.copy(entriesQuery(from)), replay.findings)
  for await (const block of source.copy(eventsQuery(from))) {
    await run.prepare(block.count)
    readEventBlock(block, (event) => run.apply(event))
    await entries.match(replay.journal.takeEntries(), replay.position)
    if (hasTiles) await replay.tiles.compare(source, false)
    await run.rest()
  }
  await entries.match([], Infinity)
  if (hasTiles) await replay.tiles.compare(source, true)
  // Before the end is judged: the next audit goes on from here, and judges another end.
  await run.end()
  replay.finish()
  await checkpoints.finish(replay.tree)
  await matchPayments(replay, source)
  await matchQuotes(replay, source.copy(quotesQuery))
  await matchTotals(replay, source)
  await replay.payouts.matchRows(source)
  await chain?.finish()
}

/** A resume file of another book would make every check go wrong, or right, for no reason. */
async function checkSameBook(source: DatabaseSource, { position, lastLeaf }: Replay): Promise<void> {
  if (position === 0) return
  const rows = await source.rows<{ leaf_hash: Buffer }>('select leaf_hash from ledger.events where seq = $1', [
    position,
  ])
  if (rows[0]?.leaf_hash.toString('latin1') === lastLeaf) return
  throw new Fault(
    `the book has not the event at position ${position} that the resume file ends with; audit it from the first event`,
    { retryable: false },
  )
}
