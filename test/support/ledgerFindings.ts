import { audit } from '@tollbook/audit/audit'
import type { AuditReport } from '@tollbook/audit/auditReport'
import { systemClock } from '@tollbook/core/clock'

/** Findings of an audit that asks no node. */
export async function ledgerFindings(databaseUrl: string): Promise<AuditReport['findings']> {
  return (await auditLedger(databaseUrl)).findings
}

/** An audit of the ledger, and of the chain of a service if there is one. */
export function auditLedger(databaseUrl: string, chain?: { readonly rpcUrl: string; readonly paymentWallet: string }) {
  return audit({
    source: { kind: 'database', url: databaseUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    chain: chain && { ...chain, fetch, recordedWithinMs: 0 },
    resumeFile: undefined,
    clock: systemClock,
  })
}
