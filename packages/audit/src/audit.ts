import { type AuditClock } from './clock.ts'
import { AuditFault } from './auditFault.ts'
import { auditDatabase } from './auditDatabase.ts'
import { auditExport } from './auditExport.ts'
import { type AuditReport, reportOf } from './auditReport.ts'
import { AuditRun } from './auditRun.ts'
import { ChainAudit, type ChainAuditOptions } from './chainAudit.ts'
import { createChainNode } from './chainNode.ts'
import { readCheckpoint, type VerifierKey } from './checkpointNote.ts'
import {
  type CheckpointDeps,
  Checkpoints,
  type GivenCheckpoint,
  type StatedRoot,
  statedRootOf,
  storedCheckpoints,
} from './checkpoints.ts'
import { lastPositionOf, openDatabaseSource } from './databaseSource.ts'
import { type ExportSource, openExport } from './exportSource.ts'
import type { HolderSnapshot } from './holderSnapshot.ts'
import { AuditState, StateDocument } from './auditState.ts'
import { Replay } from './replay.ts'
import { StoredTransactions } from './storedTransactions.ts'

export interface AuditOptions {
  readonly source:
    | { readonly kind: 'database'; readonly url: string }
    | { readonly kind: 'export'; readonly path: string }
  /** Keys that may sign checkpoints. If empty, the audit compares the roots, and no signature counts as verified. */
  readonly verifierKeys: readonly VerifierKey[]
  /** Checkpoints that the auditor stored. They reveal a rewrite of the ledger, even by someone who has the signing key. */
  readonly ownCheckpoints: readonly GivenCheckpoint[]
  /** Without the snapshot of holders that a payout plan names, the audit cannot derive the lines of the plan. */
  readonly snapshots?: readonly HolderSnapshot[]
  /** False omits the check of the signed transactions, which takes a large part of the time. */
  readonly transactions: boolean
  /** Node to query for every payment, and for payments missing from the ledger. Undefined: no node. */
  readonly chain: ChainQuestion | undefined
  readonly resumeFile: string | undefined
  readonly clock: AuditClock
  readonly signal?: AbortSignal
  readonly onProgress?: (position: number, lastPosition: number) => void
  /**
   * Called with the RPC method when an answer of the node is slow, and before a request whose answer was unusable is
   * sent again.
   */
  readonly onNodeTrouble?: (method: string) => void
}

export interface ChainQuestion extends Pick<ChainAuditOptions, 'paymentWallet' | 'recordedWithinMs'> {
  readonly rpcUrl: string
  readonly fetch: typeof fetch
}

/**
 * Replays the ledger from its first event, or from the end of the resume file, and reports the verdicts. Throws an
 * `AuditFault` if the audit cannot be carried out, and `AuditInterrupted` after an abort.
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const startedAtMs = options.clock.monotonicMs()
  using state = options.resumeFile === undefined ? AuditState.temporary() : AuditState.resume(options.resumeFile)
  const replay = new Replay(state)
  const resumedAfter = replay.position === 0 ? undefined : replay.position
  replay.snapshots = new Map((options.snapshots ?? []).map((known) => [known.sha256, known]))
  const { source } = options
  requireSameKind(state, source.kind)
  const ended = () => Math.round(options.clock.monotonicMs() - startedAtMs)
  if (source.kind === 'database') {
    await using database = await openDatabaseSource(source.url)
    const ofDatabase = { roots: [], stored: storedCheckpoints(database), lastPosition: await lastPositionOf(database) }
    const parts = openParts(options, replay, ofDatabase)
    const tables = await auditDatabase(database, parts)
    return reportOf({ ...parts, ...tables, resumedAfter, source: 'database', durationMs: ended() })
  }
  await using file = await openExport(source.path)
  const parts = openParts(options, replay, {
    roots: rootsOfExport(file),
    stored: undefined,
    lastPosition: file.head.treeSize,
  })
  await auditExport(file, parts)
  const noTables = { areKeysRead: false, functions: undefined, reportsUpto: undefined }
  return reportOf({ ...parts, ...noTables, resumedAfter, source: 'export', durationMs: ended() })
}

const sourceKind = new StateDocument('source', (): { kind?: AuditOptions['source']['kind'] } => ({}))

/**
 * Throws if the resume file is of the other kind of source, because the two kinds make different checks. For example,
 * the audit of an export compares no tables.
 */
function requireSameKind(state: AuditState, kind: AuditOptions['source']['kind']): void {
  const known = sourceKind.of(state)
  const { kind: before = kind } = known
  if (before !== kind) {
    const names = { database: 'a database', export: 'an export' }
    const message = `the resume file is of ${names[before]}; begin a new file to audit ${names[kind]}`
    throw new AuditFault(message, { retryable: false })
  }
  known.kind = kind
}

interface SourceFacts extends Pick<CheckpointDeps, 'roots' | 'stored'> {
  readonly lastPosition: number
}

function openParts(options: AuditOptions, replay: Replay, { roots, stored: storedRoots, lastPosition }: SourceFacts) {
  const { clock, resumeFile, signal, onProgress, verifierKeys: given } = options
  const { findings, periods, state, tree } = replay
  const stored = options.transactions ? new StoredTransactions(findings, state) : undefined
  const chain = options.chain === undefined ? undefined : openChainAudit(options.chain, options, replay)
  const ownRoots = options.ownCheckpoints.map(statedRootOf)
  const deps = { findings, state, given, periods, roots: [...ownRoots, ...roots], stored: storedRoots }
  const checkpoints = new Checkpoints(deps, tree.size)
  checkpoints.compare(tree, replay.recordedAtMs)
  const run = new AuditRun({
    replay,
    checkpoints,
    stored,
    chain,
    isResumable: resumeFile !== undefined,
    clock,
    signal,
    onProgress: (position) => onProgress?.(position, lastPosition),
  })
  return { replay, run, stored, chain, checkpoints }
}

function openChainAudit(
  { rpcUrl, fetch, ...question }: ChainQuestion,
  { clock, onNodeTrouble: onTrouble }: AuditOptions,
  replay: Replay,
): ChainAudit {
  const node = createChainNode({ rpcUrl, fetch, clock, onTrouble })
  const chain = new ChainAudit(node, replay, question)
  if (chain.isIncomplete)
    throw new AuditFault('the audit of the resume file asked no node; begin a new file to ask one', {
      retryable: false,
    })
  return chain
}

function rootsOfExport({ head }: ExportSource): readonly StatedRoot[] {
  const root = Buffer.from(head.root, 'base64')
  const stated: StatedRoot = { size: head.treeSize, root, note: undefined, source: 'the head of the export' }
  if (head.checkpoint === null) return [stated]
  const note = readCheckpoint(head.checkpoint)
  const signed = { size: note?.size ?? head.treeSize, root: note?.root ?? root, note: head.checkpoint }
  return [stated, { ...signed, source: 'the checkpoint of the export' }]
}
