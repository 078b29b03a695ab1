import type { Clock } from '@tollbook/core/clock'
import { createLedger } from '@tollbook/ledger/ledger'
import type { ListedPrice } from '@tollbook/core/quote'
import { noFinalityMemory, recordFinality } from '../../src/jobs/finalityJob.ts'
import { followOpenWork } from '../../src/jobs/openWorkJob.ts'
import type { StepDeps } from '../../src/jobs/recordStep.ts'
import { recordRefunds } from '../../src/jobs/refundJob.ts'
import { scanTransfers, type TransferScanDeps } from '../../src/jobs/transferScanJob.ts'
import type { ChainReader } from '../../src/payment/chainReader.ts'
import { createNodeRegistry } from '../../src/chain/nodeRegistry.ts'
import type { PostJson } from '../../src/chain/nodeClient.ts'
import { defaultNodeLimits } from '../../src/chain/nodeStanding.ts'
import { createSolanaChainReader } from '../../src/chain/solanaChainReader.ts'
import { createSolanaFinalityReader } from '../../src/chain/solanaFinalityReader.ts'
import { rebroadcast, type RebroadcastMemory } from '../../src/jobs/rebroadcastJob.ts'
import type { FinalityReader } from '../../src/payment/finalityReader.ts'
import type { PaymentLedger } from '../../src/payment/paymentLedger.ts'
import type { PaymentLifecycle } from '../../src/payment/paymentLifecycle.ts'
import { receiptOf } from '../../src/payment/receipt.ts'
import type { PaymentTerms } from '../../src/payment/settlement.ts'
import { Serving } from '../../src/paywall/serving.ts'
import type { Paywall } from '../../src/paywall/paywall.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { defaultTokenNames } from '../../src/pricing/tokenNames.ts'
import { silentLog } from '../../src/machine/log.ts'
import { createFirstPresentations } from '../../src/rails/solana/firstPresentation.ts'
import { createNativeRail } from '../../src/rails/native/nativeRail.ts'
import { createElection } from '../../src/store/election.ts'
import { createPaymentLifecycle } from '../../src/store/lifecycleStore.ts'
import { createPaymentLedger } from '../../src/store/paymentStore.ts'
import { createPriceListStore, type PriceListStore } from '../../src/store/priceListStore.ts'
import { createPresentations } from '../../src/store/presentationStore.ts'
import { createQuoteQueue } from '../../src/store/quoteStore.ts'
import { createTabStore, type TabStore } from '../../src/store/tabStore.ts'
import { createSentAnswers } from '../../src/store/sentAnswers.ts'
import type { SimulatedPool } from './simulatedNetwork.ts'

/** Seams for planted bugs: a port of one instance, replaced by one that is wrong. */
export interface PlantedPorts {
  readonly payments?: (payments: PaymentLedger, deps: { readonly clock: Clock }) => PaymentLedger
  readonly lifecycle?: (lifecycle: PaymentLifecycle) => PaymentLifecycle
  readonly chain?: (chain: ChainReader & FinalityReader) => ChainReader & FinalityReader
}

export interface InstanceDeps {
  readonly name: string
  readonly pool: SimulatedPool
  readonly clock: Clock
  readonly nodeUrls: readonly string[]
  readonly postJson: PostJson
  readonly terms: PaymentTerms
  readonly currentPrice: (endpoint: string) => ListedPrice | undefined
  readonly exposureMaxBaseUnits: bigint
  readonly planted: PlantedPorts
}

/** The parts of one instance of the service, wired as src/start wires them. */
export interface ServiceParts {
  readonly paywall: Paywall
  readonly priceLists: PriceListStore
  readonly jobs: Readonly<Record<JobName, () => Promise<void>>>
  /** Asks the nodes where they are. */
  readonly pollNodes: () => Promise<void>
}

export type JobName = 'open work' | 'finality' | 'rebroadcast' | 'refunds' | 'transfer scan'

const leaseMs = 20_000
const handlerTimeoutMs = 8_000
const quoteTtlMs = 120_000
const quoteGraceMs = 60_000
export const proofMaxAgeMs = 600_000
const attemptsMax = 10
const repeatMs = 120_000
const refundAfterMs = 24 * 60 * 60 * 1000
const settleAgeMs = proofMaxAgeMs + 60 * 60 * 1000

export function openInstance(deps: InstanceDeps): ServiceParts {
  const { clock, terms, planted } = deps
  const { runner: pool, database } = deps.pool
  const log = silentLog
  const kernel = createLedger({ pool, clock, log, outcomeTimeoutMs: 15_000 })
  const quotes = createQuoteQueue(pool)
  const priceLists = createPriceListStore({ database, kernel, nowMs: () => clock.nowMs() })
  const sentAnswers = createSentAnswers({ database, clock, log, repeatMs })
  const tabs = createTabStore({ database, pool, kernel, clock })
  const stores = { pool, strangers: database, kernel, log, quotes, priceLists, sentAnswers, tabs }
  const honestPayments = createPaymentLedger({ ...stores, repeatMs })
  const ledger = planted.payments?.(honestPayments, { clock }) ?? honestPayments
  const election = createElection({ database, clock, log, holder: deps.name })
  const honestLifecycle = createPaymentLifecycle({ database, kernel, election })
  const plant = (own: PaymentLifecycle) => planted.lifecycle?.(own) ?? own
  const lifecycle = plant(honestLifecycle)
  const nodes = createNodeRegistry({
    urls: deps.nodeUrls,
    postJson: deps.postJson,
    timeoutMs: 5_000,
    limits: defaultNodeLimits,
    clock,
    log,
  })
  const readerDeps = { nodes, log, clock, mint: terms.mint, commitment: 'confirmed' } as const
  const reader = createSolanaChainReader(readerDeps)
  const honestChain = {
    ...reader,
    ...createSolanaFinalityReader(readerDeps),
    readTransaction: remembered(reader.readTransaction),
  }
  const chain = planted.chain?.(honestChain) ?? honestChain
  const presentations = createPresentations(database)
  const limits = {
    quoteGraceMs,
    proofMaxAgeMs,
    proofLookupWaitMs: 2_000,
    broadcastWaitMs: 10_000,
    quorumAboveMicroUsd: undefined,
  }
  const rail = createNativeRail(limits, {
    clock,
    ledger,
    chain,
    terms,
    split: defaultSplit,
    token: defaultTokenNames,
    slot: () => nodes.slot(),
    currentPrice: deps.currentPrice,
    first: createFirstPresentations({ chain, presentations, onUnrecorded: () => undefined }),
  })
  const paywall: Paywall = {
    clock,
    log,
    ledger,
    token: defaultTokenNames,
    currentPrice: deps.currentPrice,
    quoteTtlMs,
    leaseMs,
    handlerTimeoutMs,
    whyExposed: async () =>
      (await lifecycle.exposureBaseUnits(terms.mint)) < deps.exposureMaxBaseUnits ? undefined : 'too much is exposed',
    whyClosed: () => undefined,
    whyNoQuotes: () => (nodes.inRotation().length === 0 ? 'no node is in rotation' : undefined),
    attemptsMax,
    rails: [rail],
    serving: new Serving(),
    // The signature of a receipt decides nothing, and a real one is made in another thread, whose time no seed
    // controls.
    signReceipt: (fulfilment) => Promise.resolve({ ...receiptOf(fulfilment), jws: 'simulated.e30.simulated' }),
    onFault: () => undefined,
  }
  const steps = { clock, log, payments: ledger, lifecycle, presentations, onStep: () => undefined }
  return { paywall, priceLists, jobs: jobsOf(steps, { chain, terms, plant, tabs }), pollNodes: () => nodes.poll() }
}

/** Reading is pure, and a crowd presents the same bytes hundreds of times. */
function remembered(read: ChainReader['readTransaction']): ChainReader['readTransaction'] {
  const known = new Map<string, ReturnType<typeof read>>()
  return (bytes) => {
    const key = Buffer.from(bytes).toString('latin1')
    const found = known.get(key) ?? read(bytes)
    known.set(key, found)
    return found
  }
}

interface JobPorts {
  readonly chain: ChainReader & FinalityReader
  readonly terms: PaymentTerms
  readonly tabs: TabStore
  /** An elected job has a lifecycle under its own lease, which a planted bug changes too. */
  readonly plant: (lifecycle: PaymentLifecycle) => PaymentLifecycle
}

function jobsOf(
  steps: StepDeps & Pick<TransferScanDeps, 'presentations'>,
  { chain, terms, plant, tabs }: JobPorts,
): ServiceParts['jobs'] {
  const { lifecycle, presentations } = steps
  const memory = noFinalityMemory()
  const followed: RebroadcastMemory = new Map()
  const elected = (name: string, work: (elected: StepDeps) => Promise<void>) => async () => {
    await lifecycle.runElected(name, (own) => work({ ...steps, lifecycle: plant(own) }))
  }
  return {
    'open work': () => followOpenWork({ ...steps }),
    finality: elected('tollbook finality', (own) =>
      recordFinality({ ...own, tabs, chain, allTerms: () => [terms] }, memory),
    ),
    rebroadcast: elected('tollbook rebroadcast', (own) => rebroadcast({ ...own, chain }, followed)),
    refunds: elected('tollbook refunds', (own) => recordRefunds({ refundAfterMs, attemptsMax }, own)),
    'transfer scan': elected('tollbook transfer scan', (own) =>
      scanTransfers({ ...own, chain, terms, settleAgeMs, presentations }),
    ),
  }
}
