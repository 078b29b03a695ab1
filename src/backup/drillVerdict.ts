import type { CheckpointComparison } from '../store/checkpointFile.ts'

/** `sound`: it can be served. `older`: it is whole, and lacks events that a checkpoint was signed over. */
export type DrillVerdict = 'sound' | 'older' | 'broken'

export interface DrillFindings {
  readonly failedChecks: readonly string[]
  readonly auditExitCode: number
  readonly comparisons: readonly CheckpointComparison[]
  readonly hasTarget: boolean
}

// 3: nothing is wrong, and a part can no longer be checked. A drill asks no node.
const passingAuditCodes: ReadonlySet<number> = new Set([0, 3])

/** Sound unless a check failed, the audit found a difference, or a checkpoint is of another or a longer ledger. */
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
