import type { AuditOptions } from './audit.ts'
import { AuditFault } from './auditFault.ts'
import { type AuditReport, verdictOf } from './auditReport.ts'
import { AuditState } from './auditState.ts'
import { AuditInterrupted } from './auditRun.ts'
import { Checkpoints, claimOf, type GivenCheckpoint, storedCheckpoints } from './checkpoints.ts'
import { readRows } from './copyRow.ts'
import { eventsQuery, readEventBlock } from './databaseEvents.ts'
import { type DatabaseSource, lastPositionOf, openDatabaseSource } from './databaseSource.ts'
import { aspects, Findings } from './findings.ts'
import { readAccounts } from './matchAccounts.ts'
import { matchTables } from './matchTables.ts'
import type { RawEvent } from './rawEvent.ts'
import { SettingPeriods } from './settingPeriods.ts'
import { SinceRun } from './sinceRun.ts'

type SinceOptions = Pick<AuditOptions, 'verifierKeys' | 'ownCheckpoints' | 'clock' | 'signal' | 'onProgress'> & {
  readonly databaseUrl: string
  readonly since: GivenCheckpoint
}

/**
 * Audits the events after a checkpoint that an earlier audit has checked. Only hashes are read before the checkpoint,
 * and bodies after it, so the time depends on the new part. The report lists the checks that need the whole ledger.
 */
export async function auditSince(options: SinceOptions): Promise<AuditReport> {
  const { clock, since, ownCheckpoints, verifierKeys } = options
  const startedAtMs = clock.monotonicMs()
  await using database = await openDatabaseSource(options.databaseUrl)
  const first = claimOf(since)
  if (first.size === 0) throw new AuditFault(`${since.name} is not a checkpoint of events`, { retryable: false })
  using state = AuditState.temporary()
  const findings = new Findings(state)
  const periods = new SettingPeriods(findings, state)
  const stored = storedCheckpoints(database)
  const claims = [first, ...ownCheckpoints.map(claimOf)].filter(({ size }) => size >= first.size)
  const checkpoints = new Checkpoints(
    { findings, periods, given: verifierKeys, claims, ...(stored === undefined ? {} : { stored }) },
    first.size - 1,
  )
  const run = new SinceRun({ state, findings, checkpoints, periods })
  await matchTables(findings, database)
  await replaySince(database, { options, run, checkpoints, state, size: first.size })
  await checkpoints.finish(run.records.tree, Number.NEGATIVE_INFINITY)
  for (const [kind, position] of run.unknownKinds)
    findings.add('kind_unknown', {
      position,
      subject: `events ${kind}`,
      message: 'this auditor does not know the kind',
    })
  return reportOf({ run, findings, checkpoints, size: first.size, durationMs: clock.monotonicMs() - startedAtMs })
}

interface Parts {
  readonly options: SinceOptions
  readonly run: SinceRun
  readonly checkpoints: Checkpoints
  readonly state: AuditState
  readonly size: number
}

async function replaySince(database: DatabaseSource, { options, run, checkpoints, state, size }: Parts): Promise<void> {
  const lastPosition = await lastPositionOf(database)
  await checkpoints.load(lastPosition)
  const accounts = await readAccounts(state, database)
  const read = async (query: string, onEvent: (event: RawEvent) => void): Promise<void> => {
    for await (const block of database.copy(query)) {
      readEventBlock(block, accounts, onEvent)
      options.onProgress?.(run.records.tree.size, lastPosition)
      if (options.signal?.aborted === true)
        throw new AuditInterrupted(`interrupted at position ${run.records.tree.size}`)
    }
  }
  // Read the settings before the hashes, because comparing checkpoints requires the keys.
  await read(`select * from (${eventsQuery(0)}) e where seq <= ${size} and kind = 'SettingChanged'`, (event) =>
    run.addEarlierSetting(event),
  )
  const hashes = database.copy(`select leaf_hash from ledger.events where seq <= ${size} order by seq`)
  await readRows(hashes, (row) => run.addEarlierLeaf(row.latin1()))
  await read(eventsQuery(size), (event) => run.apply(event))
}

interface Judged {
  readonly run: SinceRun
  readonly findings: Findings
  readonly checkpoints: Checkpoints
  readonly size: number
  readonly durationMs: number
}

const wholeLedger = 'audit from the first event, or with --resume'

function reportOf({ run, findings, checkpoints, size, durationMs }: Judged): AuditReport {
  const events = Math.max(0, run.records.tree.size - size)
  const { compared, signaturesVerified, signaturesUnverified } = checkpoints.figures
  const part = `positions ${size + 1} to ${run.records.tree.size}`
  const unsigned = `the signatures of ${signaturesUnverified} checkpoints: no --verifier-key`
  return {
    source: 'database',
    events,
    payments: 0,
    treeSize: run.records.tree.size,
    root: run.records.tree.root().toString('base64'),
    verdicts: {
      integrity: verdictOf(findings, 'integrity', {
        checked: [
          `the stored hashes of the first ${size} events have the root of the checkpoint`,
          `${events} bodies behind it read and hashed again, and their tree`,
          `${compared} checkpoints compared, the signatures of ${signaturesVerified} verified`,
        ],
        notChecked: [
          `the bodies, columns and tiles of the first ${size} events: ${wholeLedger}`,
          ...(signaturesUnverified > 0 ? [unsigned] : []),
        ],
      }),
      arithmetic: verdictOf(findings, 'arithmetic', {
        checked: [`${run.postings} postings of ${part}, derived from their bodies`],
        notChecked: [
          `lifecycles, prices, refunds, payouts, balances and reports: they follow from all events; ${wholeLedger}`,
        ],
        insufficient: true,
      }),
      completeness: verdictOf(findings, 'completeness', {
        checked: [`${part}, and the versions of each stream among them`],
        notChecked: [`streams, settings, keys, quotes and the head as they are stored: ${wholeLedger}`],
        insufficient: true,
      }),
      chainTruth: verdictOf(findings, 'chainTruth', {
        checked: [],
        notChecked: ['whether the payments landed: --chain needs an audit of all events'],
        insufficient: true,
      }),
    },
    findings: aspects.flatMap((aspect) => findings.of(aspect)),
    balances: [],
    burns: [],
    resumedAfter: size,
    durationMs: Math.round(durationMs),
  }
}
