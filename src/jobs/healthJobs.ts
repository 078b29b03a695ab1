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
  /** Undefined while the condition holds. Otherwise the problem, in words for operators and callers. */
  readonly problem: () => string | undefined
  /** A failure stops quotes only. Payments are still served. */
  readonly quotesOnly?: boolean
  /** Checks whose failure would also make this one fail. */
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

/** Starts the checks behind `/api/health`. Ready when the ledger and the chain have been checked once. */
export async function startHealthJobs({ clock, log, ledger, chain }: HealthJobsDeps) {
  await using started = new AsyncDisposableStack()
  // While an acknowledged commit may be lost (I27), paid routes close. A standby that was promoted by mistake, or a
  // setting changed at run time, is detected within a minute; a database that returns is detected at once.
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
    // Payments are still read while no node answers: a presentation counts for the age of its payment.
    { name: 'chain', problem: chainHealth.problem, facts: chainHealth.facts, quotesOnly: true },
    { name: 'token', problem: termsHealth.problem },
  ]
  const stored = started.move()
  return {
    checks,
    /** Reason why no quotes are made while payments are still served. */
    whyNoQuotes: chainHealth.whyNoQuotes,
    /** A slot that the chain has reached for certain. */
    slot: () => chain.nodes.slot(),
    stop: () => stored.disposeAsync(),
  }
}
