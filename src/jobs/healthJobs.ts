import type { Json } from '@tollbook/core/canonicalJson'
import type { PaymentTerms } from '../payment/settlement.ts'
import { type NodeWatch, startChainHealth } from './chainHealth.ts'
import { startClockHealth } from './clockHealth.ts'
import { startHousekeepingJob } from './housekeepingJob.ts'
import { startLedgerHealth } from './ledgerHealth.ts'
import { startQuoteRetentionJob } from './quoteRetentionJob.ts'
import type { RepeatDeps } from './repeat.ts'
import { startTermsHealth } from './termsHealth.ts'

/** Conditions for selling anything. */
export interface ServiceCheck {
  readonly name: string
  /** Undefined when it is well; otherwise what is wrong, for the operator and the caller alike. */
  readonly problem: () => string | undefined
  /** Keeps us from quoting, and from nothing else: who has paid is served. */
  readonly quotesOnly?: boolean
  /** Names of checks whose failure would also fail this one. */
  readonly causes?: readonly string[]
  /** More for the operator than whether it is well. */
  readonly facts?: () => Json
}

/** The checks behind `/api/health`, repeated in the background. */
export interface HealthJobs {
  readonly checks: readonly ServiceCheck[]
  /** Why no quotes are made, although who has paid is served. */
  whyNoQuotes(): string | undefined
  /** A slot that the chain has certainly reached. */
  slot(): number
  stop(): Promise<void>
}

export interface HealthJobsDeps extends RepeatDeps {
  readonly ledger: {
    /** Undefined while the database continues the ledger that this instance has seen. */
    readonly history: { problem(): string | undefined }
    findDurabilityProblem(): Promise<string | undefined>
    readDatabaseClockMs(): Promise<number>
    addPartitions(): Promise<void>
    forgetOldAnswers(): Promise<void>
    forgetOldPresentations(): Promise<void>
    dropOldQuotes(): Promise<readonly string[]>
    showQuoteStorage(): Promise<void>
  }
  readonly chain: {
    readonly nodes: NodeWatch
    readonly clockSkewMaxMs: number
    readonly terms: PaymentTerms
    readTerms(): Promise<PaymentTerms>
  }
}

/** Everything that runs by the clock. Ready when ledger and chain have been asked once. */
export async function startHealthJobs({ clock, log, ledger, chain }: HealthJobsDeps): Promise<HealthJobs> {
  await using started = new AsyncDisposableStack()
  const ledgerHealth = await startLedgerHealth({ clock, log, findDurabilityProblem: ledger.findDurabilityProblem })
  started.defer(ledgerHealth.stop)
  const clockHealth = await startClockHealth({ clock, log, readDatabaseClockMs: ledger.readDatabaseClockMs })
  started.defer(clockHealth.stop)
  const chainHealth = startChainHealth({ clock, log, nodes: chain.nodes, clockSkewMaxMs: chain.clockSkewMaxMs })
  started.defer(chainHealth.stop)
  const termsHealth = startTermsHealth({ clock, log, terms: chain.terms, readTerms: chain.readTerms })
  started.defer(termsHealth.stop)
  const housekeeping = await startHousekeepingJob({ clock, log, ...ledger })
  started.defer(housekeeping.stop)
  const retention = startQuoteRetentionJob({ clock, log, ...ledger, clockProblem: clockHealth.problem })
  started.defer(retention.stop)
  const checks: readonly ServiceCheck[] = [
    { name: 'history', problem: ledger.history.problem },
    { name: 'ledger', problem: ledgerHealth.problem, causes: ['history'] },
    { name: 'clock', problem: clockHealth.problem, causes: ['history', 'ledger'] },
    // A caller who has paid is heard even while no node can say so: the presentation counts for the age of the payment.
    { name: 'chain', problem: chainHealth.problem, facts: chainHealth.facts, quotesOnly: true },
    { name: 'token', problem: termsHealth.problem },
  ]
  const stored = started.move()
  return {
    checks,
    whyNoQuotes: chainHealth.whyNoQuotes,
    slot: () => chain.nodes.slot(),
    stop: () => stored.disposeAsync(),
  }
}
