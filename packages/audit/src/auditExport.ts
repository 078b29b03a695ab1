import { AuditFault } from './auditFault.ts'
import type { AuditParts } from './auditDatabase.ts'
import type { ExportSource } from './exportSource.ts'
import type { Findings } from './findings.ts'
import { reportUnknownKinds } from './unknownKinds.ts'

// After this number of events, the audit waits for pending checks, saves its state if this is due, and reports
// progress.
const blockEvents = 1_000

/**
 * Audits an export. It has only events, so there are no stored postings, accounts or streams to compare with the
 * derived ones.
 */
export async function auditExport(file: ExportSource, { replay, run, checkpoints, chain }: AuditParts): Promise<void> {
  const { head } = file
  if (head.fromPosition !== 1) {
    const message = `the export begins at position ${head.fromPosition}: an audit needs the ledger from position 1`
    throw new AuditFault(message, { retryable: false })
  }
  // Do not collect tiles, because an export has none to compare.
  replay.tree.onSubtree = undefined
  const from = replay.position
  let isContinued = from === 0
  let count = 0
  let end: number | undefined
  for await (const line of file.events()) {
    if (end !== undefined) blame(replay.findings, replay.position + 1, 'something follows the last line')
    if (line.kind === 'unreadable') blame(replay.findings, replay.position + 1, `line ${line.line} cannot be read`)
    if (line.kind === 'end') end = line.events
    if (line.kind !== 'event') continue
    count++
    const { position, leafHash } = line.event
    if (position === from && replay.position === from) isContinued = leafHash === replay.records.lastLeaf
    if (position > from) {
      if (!isContinued) throw new AuditFault(otherLedger, { retryable: false })
      run.apply(line.event)
    }
    if (count % blockEvents === 0) await run.rest()
  }
  if (!isContinued) throw new AuditFault(otherLedger, { retryable: false })
  await run.rest()
  if (end === undefined) blame(replay.findings, replay.position + 1, 'the last line is missing: the file was cut off')
  else if (end !== count)
    blame(replay.findings, replay.position + 1, `the last line counts ${end} events, there are ${count}`)
  await run.end()
  replay.finish()
  reportUnknownKinds(replay, new Map())
  await checkpoints.finish(replay.tree, replay.recordedAtMs)
  await chain?.finish()
}

const otherLedger = 'the export is not of the ledger that the resume file ends with; audit it from the first event'

function blame(findings: Findings, position: number, message: string): void {
  findings.add('export_incomplete', { position, subject: 'export', message })
}
