import { audit } from '@tollbook/audit/audit'
import { systemClock } from '@tollbook/core/clock'
import { say } from '../verdict.ts'
import type { TabFleet } from './tabFleet.ts'

/** Audits the ledger of the fleet with its chain. Payments younger than `recordedWithinMs` may be unrecorded. */
export async function auditTabs({ environment }: Pick<TabFleet, 'environment'>, recordedWithinMs: number) {
  say('audit, with the chain')
  const { database, chain, paymentWallet } = environment
  const report = await audit({
    source: { kind: 'database', url: database.serviceUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    chain: { rpcUrl: chain.rpcUrl, paymentWallet: paymentWallet.publicKey.toBase58(), recordedWithinMs, fetch },
    resumeFile: undefined,
    clock: systemClock,
  })
  return {
    line: `audit: ${report.findings.length} findings, chain ${report.verdicts.chainTruth.status}`,
    wrong: report.findings.map(({ code, subject, message }) => `audit: ${code} ${subject}: ${message}`),
  }
}
