import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import type { Tree } from './tree.ts'

/** Claims of one tree's ledger, through its own store, with the verification stubbed. */
export interface Claimer {
  /** First claim of a new payment: three events, the stream's row, three projections. */
  claim(): Promise<void>
  /** A claim, then its fulfilment, by the same caller. */
  pay(): Promise<void>
  /** Claims this many payments and returns the fulfilment of each, to be measured separately. */
  claimMany(count: number): Promise<readonly (() => Promise<void>)[]>
  /** A change as the tree's paywall would hand it to its ledger. */
  nextChange(): unknown
  /** Makes the payments of the next measurement, which must not count. */
  prepare(): void
  close(): Promise<void>
}

export interface ClaimerOptions {
  readonly tree: Tree
  readonly databaseUrl: string
  readonly applicationName: string
}

/** Common part of the trees; their types differ. */
interface Store {
  openLedger(options: object): Promise<{ readonly payments: Payments; close(): Promise<void> }>
}

interface Payments {
  append(change: unknown): Promise<{ readonly outcome: string; readonly after?: unknown }>
  /** Absent in trees that store no unsent answers. */
  markSent?(reference: unknown): void
}

interface Samples {
  sampleSettlement(): { readonly reference: unknown }
  claimOf(settlement: unknown): { readonly change: unknown; readonly attemptId: string }
  fulfilmentOf(settlement: unknown, options: { before: unknown; attemptId: string; answerJson: string }): unknown
}

// About the answer of a price endpoint; stored with the fulfilment until it was sent.
const answerJson = JSON.stringify({ data: 'x'.repeat(600) })

// Made in advance: in the service the chain makes them, and their random keys cost as much as a third of a claim.
const poolSize = 30_000

export async function openClaimer({ tree, databaseUrl, applicationName }: ClaimerOptions): Promise<Claimer> {
  const store: Store = await import(`${tree.root}/src/store/openLedger.ts`)
  const samples: Samples = await import(`${tree.root}/test/store/samplePayment.ts`)
  const ledger = await store.openLedger({ databaseUrl, applicationName, clock: systemClock, log: silentLog })
  const settlements: ReturnType<Samples['sampleSettlement']>[] = []
  const prepare = () => {
    while (settlements.length < poolSize) settlements.push(samples.sampleSettlement())
  }
  const nextSettlement = () => {
    if (settlements.length === 0) prepare()
    return assertPresent(settlements.pop(), 'the pool of settlements has been filled')
  }
  const append = async (change: unknown): Promise<unknown> => {
    const { outcome, after } = await ledger.payments.append(change)
    assert(outcome === 'appended', 'each change of the bench is the first of its kind')
    return after
  }
  const claimOne = async () => {
    const settlement = nextSettlement()
    const { change, attemptId } = samples.claimOf(settlement)
    const before = await append(change)
    return async () => {
      await append(samples.fulfilmentOf(settlement, { before, attemptId, answerJson }))
      ledger.payments.markSent?.(settlement.reference)
    }
  }
  return {
    claim: async () => void (await claimOne()),
    async pay() {
      const fulfil = await claimOne()
      await fulfil()
    },
    claimMany: (count) => Promise.all(Array.from({ length: count }, claimOne)),
    nextChange: () => samples.claimOf(nextSettlement()).change,
    prepare,
    close: () => ledger.close(),
  }
}
