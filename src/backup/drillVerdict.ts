import type { CheckpointComparison } from '../store/checkpointFile.ts'

/**
 * Verdict of a drill. `sound`: the restored ledger can be served. `older`: the ledger is complete up to its end, but
 * lacks events that a signed checkpoint covers.
 */
export type DrillVerdict = 'sound' | 'older' | 'broken'

export interface DrillFindings {
  readonly failedChecks: readonly string[]
  readonly auditExitCode: number
  readonly comparisons: readonly CheckpointComparison[]
  readonly hasTarget: boolean
}

// Exit codes of an audit that found no difference. With 3, a part can no longer be checked, because a drill does not
// use a Solana node.
const passingAuditCodes: ReadonlySet<number> = new Set([0, 3])

/** A failed check or audit outranks a missing end, because such a backup cannot be used. */
export function judgeDrill({ failedChecks, auditExitCode, comparisons }: DrillFindings): DrillVerdict {
  if (failedChecks.length > 0 || !passingAuditCodes.has(auditExitCode)) return 'broken'
  if (comparisons.some(({ relation }) => relation === 'other')) return 'broken'
  return comparisons.some(({ relation }) => relation === 'older') ? 'older' : 'sound'
}

export function describeVerdict(findings: DrillFindings): string {
  const verdict = judgeDrill(findings)
  const missingEvents = Math.max(0, ...findings.comparisons.map((comparison) => comparison.missingEvents))
  if (verdict === 'older') {
    return [
      `VERDICT: older than the checkpoint. The backup is whole, and lacks ${missingEvents} events.`,
      'The service refuses such a ledger: the payments since the backup could buy again.',
      findings.hasTarget
        ? 'The replay ended at --target-time; without it the archive is replayed to its end.'
        : 'The archive ends too early: see `tollbook doctor`, lower archive_timeout, or give the log of pg_receivewal with --received-wal.',
    ].join('\n')
  }
  if (verdict === 'sound') {
    const compared = findings.comparisons.length > 0
    return compared
      ? 'VERDICT: sound. The restored ledger holds and continues the checkpoint.'
      : 'VERDICT: sound, without a checkpoint. Name one with --checkpoint, or nothing shows whether events are missing.'
  }
  return [
    'VERDICT: broken. Do not rely on this backup.',
    ...findings.failedChecks.map((check) => `  the check failed: ${check}`),
    ...(passingAuditCodes.has(findings.auditExitCode) ? [] : [`  the audit ended with ${findings.auditExitCode}`]),
    ...findings.comparisons.filter(({ relation }) => relation === 'other').map(({ finding }) => `  ${finding}`),
    'Make a new backup, drill it, and keep this one until you know why.',
  ].join('\n')
}
