import type { Json } from '@tollbook/core/canonicalJson'
import type { PaymentTerms } from '../payment/settlement.ts'
import { type NodeWatch, startChainHealth } from './chainHealth.ts'
import { startClockHealth } from './clockHealth.ts'
import { startHousekeepingJob } from './housekeepingJob.ts'
import { startQuoteRetentionJob } from './quoteRetentionJob.ts'
import type { RepeatDeps } from './repeat.ts'
import { startTermsHealth } from './termsHealth.ts'
import { startWatch } from './watch.ts'

export interface ServiceCheck {
  readonly name: string
  /** The problem in words for operators and callers. Undefined while the condition is met. */
  readonly problem: () => string | undefined
  /** True: a failure stops at most quotes, and payments are still served. */
  readonly quotesOnly?: boolean
  /** Names of checks whose failure also causes this check to fail. */
  readonly causes?: readonly string[]
  readonly facts?: () => Json
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

/**
 * Starts the checks of the service. Resolves after the first check of the ledger and of the clock, so that no paid
 * route opens before.
 */
export async function startHealthJobs({ clock, log, ledger, chain }: HealthJobsDeps) {
  await using started = new AsyncDisposableStack()
  // Close paid routes while an acknowledged commit may be lost (I27), for example after a setting was changed at run
  // time.
  const ledgerHealth = await startWatch(
    { clock, log },
    {
      name: 'ledger health',
      event: 'ledger_health_changed',
      find: async () => ({ problem: await ledger.findDurabilityProblem() }),
    },
  )
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
    // Stop only quotes while no node answers. Payments are still accepted for checking, because the first presentation
    // counts for the age of a payment.
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
