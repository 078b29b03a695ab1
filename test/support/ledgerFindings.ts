import { audit } from '@tollbook/audit/audit'
import type { AuditReport } from '@tollbook/audit/auditReport'
import { systemClock } from '@tollbook/core/clock'

/** Findings of an audit that asks no node. */
export async function ledgerFindings(databaseUrl: string): Promise<AuditReport['findings']> {
  const { findings } = await audit({
    source: { kind: 'database', url: databaseUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    chain: undefined,
    resumeFile: undefined,
    clock: systemClock,
  })
  return findings
}
