import type { ChainReader } from '../payment/chainReader.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import { startChainHealth } from './chainHealth.ts'
import { startClockHealth } from './clockHealth.ts'
import { startHousekeepingJob } from './housekeepingJob.ts'
import { startLedgerHealth } from './ledgerHealth.ts'
import type { RepeatDeps } from './repeat.ts'
import { startTermsHealth } from './termsHealth.ts'

/** Conditions for selling anything. */
export interface Check {
  readonly name: string
  /** Undefined when it is well; otherwise what is wrong, for the operator and the caller alike. */
  readonly problem: () => string | undefined
  /** Keeps us from quoting, and from nothing else: who has paid is served. */
  readonly quotesOnly?: boolean
}

export interface HealthJobs {
  readonly checks: readonly Check[]
  /** The first problem of all. */
  problem(): string | undefined
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
  }
  readonly chain: {
    readonly reader: Pick<ChainReader, 'slot'>
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
  const chainHealth = await startChainHealth({ clock, log, chain: chain.reader })
  started.defer(chainHealth.stop)
  const termsHealth = startTermsHealth({ clock, log, terms: chain.terms, readTerms: chain.readTerms })
  started.defer(termsHealth.stop)
  const housekeeping = await startHousekeepingJob({ clock, log, ...ledger })
  started.defer(housekeeping.stop)
  const checks = [
    { name: 'history', problem: ledger.history.problem },
    { name: 'ledger', problem: ledgerHealth.problem },
    { name: 'clock', problem: clockHealth.problem },
    { name: 'chain', problem: chainHealth.problem },
    { name: 'token', problem: termsHealth.problem },
  ]
  const stored = started.move()
  return {
    checks,
    problem: () => checks.map(({ problem }) => problem()).find((problem) => problem !== undefined),
    slot: chainHealth.slot,
    stop: () => stored.disposeAsync(),
  }
}
