import { AuditFault } from './auditFault.ts'
import type { AuditRun } from './auditRun.ts'
import type { ChainAudit } from './chainAudit.ts'
import type { Checkpoints } from './checkpoints.ts'
import { eventsQuery, readEventBlock } from './databaseEvents.ts'
import type { DatabaseSource } from './databaseSource.ts'
import type { Findings } from './findings.ts'
import { compareFunctions, type FunctionsCompared } from './installedFunctions.ts'
import { matchAccounts, matchTallies, readAccounts } from './matchAccounts.ts'
import { matchDeclaration } from './matchDeclaration.ts'
import { matchQuotes } from './matchQuotes.ts'
import { matchHead, matchKeys, matchSettings } from './matchSettings.ts'
import { matchStreams } from './matchStreams.ts'
import { matchTables } from './matchTables.ts'
import { reportUnknownKinds } from './unknownKinds.ts'
import { deriveReports, matchReports } from './matchReports.ts'
import type { Replay } from './replay.ts'

export interface AuditParts {
  readonly replay: Replay
  readonly run: AuditRun
  readonly checkpoints: Checkpoints
  readonly chain: ChainAudit | undefined
}

/** Results of checks that some sources or database roles do not permit. */
export interface TablesRead {
  readonly areKeysRead: boolean
  /** The comparison of the SQL functions. Undefined for an export, and if another release migrated the database. */
  readonly functions: FunctionsCompared | undefined
  /**
   * Position that the report tables have reached. Undefined for an export, and if the reports could not be read or
   * derived.
   */
  readonly reportsUpto: number | undefined
}

export async function auditDatabase(
  source: DatabaseSource,
  { replay, run, checkpoints, chain }: AuditParts,
): Promise<TablesRead> {
  await checkSameLedger(source, replay)
  const derived = await deriveReports(source)
  const accounts = await readAccounts(replay.state, source)
  for await (const block of source.copy(eventsQuery(replay.position))) {
    await run.prepare(block.length)
    readEventBlock(block, accounts, (event) => run.apply(event))
    await replay.tiles.compare(source, false)
    await run.rest()
  }
  // Save the state before the final checks. The next audit repeats these checks, because the ledger may then have more
  // events.
  await run.end()
  await replay.tiles.compare(source, true)
  replay.finish()
  await checkpoints.finish(replay.tree, replay.recordedAtMs)
  await matchTables(replay.findings, source)
  reportUnknownKinds(replay, await matchDeclaration(replay.findings, source))
  const functions = await matchFunctions(replay.findings, source)
  await matchStreams(replay, source)
  matchAccounts(replay)
  await matchTallies(replay, source, accounts)
  const reportsUpto = derived === undefined ? undefined : await matchReports(replay, source, derived)
  await matchSettings(replay, source)
  // Skip the keys if the role cannot read them. Some roles have no access, because the table also contains idempotency
  // keys.
  const areKeysRead = await source.mayRead('ledger.keys')
  if (areKeysRead) await matchKeys(replay, source)
  await matchQuotes(replay, source)
  await matchHead(replay, source)
  await chain?.finishLive()
  return { areKeysRead, functions, reportsUpto }
}

async function matchFunctions(findings: Findings, source: DatabaseSource): Promise<FunctionsCompared | undefined> {
  const comparison = await compareFunctions((query) => source.rows(query))
  for (const { name, problem } of comparison?.differences ?? []) {
    const message = `the function ${problem}: what it has written since then may agree with its events and be wrong`
    findings.add('function_differs', { position: undefined, subject: name, message })
  }
  return comparison
}

/** Throws an `AuditFault` if the resume file is of another ledger, because its state would falsify the findings. */
async function checkSameLedger(source: DatabaseSource, { records: { position, lastLeaf } }: Replay): Promise<void> {
  if (position === 0) return
  const rows = await source.rows<{ leaf_hash: Buffer }>('select leaf_hash from ledger.events where seq = $1', [
    position,
  ])
  if (rows[0]?.leaf_hash.toString('latin1') === lastLeaf) return
  const message = `the ledger does not have the event at position ${position} that the resume file ends with`
  throw new AuditFault(`${message}; audit it from the first event`, { retryable: false })
}
