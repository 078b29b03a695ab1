import { Fault } from '@tollbook/core/fault'
import type { AuditParts } from './auditDatabase.ts'
import type { ExportSource } from './exportSource.ts'
import type { Findings } from './findings.ts'

// Events between two rests.
const blockEvents = 1_000

/** The events of an export. It has no entries, balances or registry: those are derived, and can be compared with nothing. */
export async function auditExport(file: ExportSource, { replay, run, checkpoints, chain }: AuditParts): Promise<void> {
  const { head } = file
  if (head.fromPosition !== 1) {
    throw new Fault(`the export begins at position ${head.fromPosition}: an audit needs the book from position 1`, {
      retryable: false,
    })
  }
  // It has no tiles either.
  replay.tree.onSubtree = undefined
  const from = replay.position
  let count = 0
  let end: number | undefined
  for await (const line of file.events()) {
    if (end !== undefined) blame(replay.findings, replay.position + 1, 'something follows the last line')
    if (line.kind === 'unreadable') blame(replay.findings, replay.position + 1, `line ${line.line} cannot be read`)
    if (line.kind === 'end') end = line.events
    if (line.kind !== 'event') continue
    count++
    if (line.event.position <= from) checkSameBook(line.event, replay)
    else run.apply(line.event)
    if (count % blockEvents !== 0) continue
    // There are no stored entries to hold them against.
    replay.journal.takeEntries()
    await run.rest()
  }
  await run.rest()
  if (end === undefined) blame(replay.findings, replay.position + 1, 'the last line is missing: the file was cut off')
  else if (end !== count)
    blame(replay.findings, replay.position + 1, `the last line counts ${end} events, there are ${count}`)
  await run.end()
  replay.finish()
  await checkpoints.finish(replay.tree)
  await chain?.finish()
}

function checkSameBook(
  { position, leafHash }: { readonly position: number; readonly leafHash: string },
  { position: last, lastLeaf }: AuditParts['replay'],
): void {
  if (position !== last || leafHash === lastLeaf) return
  throw new Fault('the export is not of the book that the resume file ends with; audit it from the first event', {
    retryable: false,
  })
}

function blame(findings: Findings, position: number, message: string): void {
  findings.add('export_incomplete', { position, subject: 'export', message })
}
