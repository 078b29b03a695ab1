import type { ChainReader } from '../payment/chainReader.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import { startChainWatch } from './chainWatch.ts'
import { startHousekeeping } from './housekeeping.ts'
import { startLedgerWatch } from './ledgerWatch.ts'
import type { RepeatDeps } from './repeat.ts'
import { startTermsWatch } from './termsWatch.ts'

/** What has to be well for anything to be sold. */
export interface Check {
  readonly name: string
  /** Undefined when it is well; otherwise what is wrong, for the operator and the caller alike. */
  readonly problem: () => string | undefined
  /** Keeps us from quoting, and from nothing else: who has paid is served. */
  readonly quotesOnly?: boolean
}

export interface Watches {
  readonly checks: readonly Check[]
  /** The first problem of all. */
  problem(): string | undefined
  /** A slot that the chain has certainly reached. */
  slot(): number
  stop(): Promise<void>
}

export interface WatchesDeps extends RepeatDeps {
  readonly ledger: {
    findDurabilityProblem(): Promise<string | undefined>
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
export async function startWatches({ clock, log, ledger, chain }: WatchesDeps): Promise<Watches> {
  await using started = new AsyncDisposableStack()
  const ledgerWatch = await startLedgerWatch({ clock, log, findDurabilityProblem: ledger.findDurabilityProblem })
  started.defer(ledgerWatch.stop)
  const chainWatch = await startChainWatch({ clock, log, chain: chain.reader })
  started.defer(chainWatch.stop)
  const termsWatch = startTermsWatch({ clock, log, terms: chain.terms, readTerms: chain.readTerms })
  started.defer(termsWatch.stop)
  const housekeeping = await startHousekeeping({ clock, log, ...ledger })
  started.defer(housekeeping.stop)
  const checks = [
    { name: 'ledger', problem: ledgerWatch.problem },
    { name: 'chain', problem: chainWatch.problem },
    { name: 'token', problem: termsWatch.problem },
  ]
  const kept = started.move()
  return {
    checks,
    problem: () => checks.map(({ problem }) => problem()).find((problem) => problem !== undefined),
    slot: chainWatch.slot,
    stop: () => kept.disposeAsync(),
  }
}
