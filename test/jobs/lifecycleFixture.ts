import { createTransferCheckedInstruction } from '@solana/spl-token'
import type { Keypair, TransactionInstruction } from '@solana/web3.js'
import { expect } from 'vitest'
import { audit } from '@tollbook/audit/audit'
import { type Chain, openChain } from '../../src/chain/openChain.ts'
import { type FinalityDeps, noFinalityMemory, recordFinality } from '../../src/jobs/finalityJob.ts'
import type { TransferScanDeps } from '../../src/jobs/transferScanJob.ts'
import { followOpenWork } from '../../src/jobs/openWorkJob.ts'
import { recordRefunds } from '../../src/jobs/refundJob.ts'
import type { LifecycleStep } from '../../src/jobs/recordStep.ts'
import { postJson } from '../../src/outbound/postJson.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import { isRefusal } from '@tollbook/core/refusal'
import { type PaymentTerms, settle, type Settlement } from '../../src/payment/settlement.ts'
import type { Signature } from '@tollbook/core/signature'
import { type PaymentReference, transactionReference } from '../../src/payment/paymentReference.ts'
import type { NodeBehaviour } from '@tollbook/localnet/localChain'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { trialBalance } from '../../src/reports/trialBalance.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { payment, transferOf } from '../chain/fixtureTokens.ts'
import { createHeldClock, type HeldClock } from '../chain/heldClock.ts'
import {
  addressOf,
  type Customer,
  decimals,
  due,
  gross,
  land,
  type MintKind,
  newCustomer,
  openChainFixture,
  type ChainFixture,
  mustFind,
} from '../chain/chainFixture.ts'
import { mustAppend, openInstance } from '../store/instance.ts'
import { claimOf, fulfilmentOf, releaseOf } from '../store/samplePayment.ts'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import type { TestDatabase } from '../support/testDatabase.ts'

/** One round of the finality job, after the open work of all events. */
export async function finalityRound({ deps }: LifecycleFixture, memory = noFinalityMemory()): Promise<void> {
  await followOpenWork(deps)
  await recordFinality(deps, memory)
}

/** One round of the refund job, after the open work of all events. */
export async function refundRound({ deps }: LifecycleFixture, refundAfterMs: number): Promise<void> {
  await followOpenWork(deps)
  await recordRefunds({ attemptsMax: 10, refundAfterMs }, deps)
}

/** The audit reads ledger and chain in its own way. The prices of a fixture are in no price list. */
export async function expectAuditHolds({ database, fixture }: LifecycleFixture): Promise<void> {
  const { findings, verdicts } = await audit({
    source: { kind: 'database', url: database.serviceUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    resumeFile: undefined,
    clock: systemClock,
    chain: {
      rpcUrl: fixture.chain.rpcUrl,
      paymentWallet: fixture.terms.paymentWallet,
      recordedWithinMs: 0,
      fetch: globalThis.fetch,
    },
  })
  expect(findings.filter(({ code }) => !code.startsWith('price_'))).toEqual([])
  expect(verdicts.chainTruth.status).toBe('holds')
}

/** A real ledger over a real chain whose slots, forks and clock a test holds. */
export interface LifecycleFixture {
  readonly fixture: ChainFixture
  readonly clock: HeldClock
  readonly ledger: Ledger
  readonly database: TestDatabase
  readonly deps: FinalityDeps & Pick<TransferScanDeps, 'chain' | 'presentations'>
  readonly steps: readonly LifecycleStep[]
  readonly chain: Chain
}

/** `nodes` as in `openChainFixture`; the chain of the fixture asks the first one only. */
export async function openLifecycleFixture(
  kind: MintKind,
  nodes?: readonly NodeBehaviour[],
): Promise<LifecycleFixture> {
  const database = await createTestDatabase()
  const clock = createHeldClock(systemClock.nowMs())
  const fixture = await openChainFixture(kind, clock, nodes)
  afterFile(() => fixture.chain.close())
  const ledger = await openInstance(database.serviceUrl)
  const chain = await openChain({
    rpcUrls: [fixture.chain.rpcUrl],
    tokenMint: fixture.terms.mint,
    paymentWallet: fixture.terms.paymentWallet,
    commitment: 'confirmed',
    postJson,
    log: silentLog,
    clock,
  })
  const steps: LifecycleStep[] = []
  const deps = {
    clock,
    log: silentLog,
    payments: ledger.payments,
    lifecycle: ledger.lifecycle,
    tabs: ledger.tabs,
    presentations: ledger.presentations,
    onStep: (step: LifecycleStep) => void steps.push(step),
    chain: { ...chain.reader, ...chain.finality },
    allTerms: () => [fixture.terms],
  }
  return { fixture, clock, ledger, database, deps, steps, chain }
}

export interface Paid {
  readonly customer: Customer
  readonly settlement: Settlement
}

/** Instructions of a co-signer in the same chain transaction. */
export interface Along {
  readonly instructions: readonly TransactionInstruction[]
  readonly signers: readonly Keypair[]
}

/** A payment on chain, verified as the paywall does; `more` arrives beyond the price. */
export async function pay({ fixture }: LifecycleFixture, more = 0n, known?: Customer, along?: Along): Promise<Paid> {
  const customer = known ?? (await newCustomer(fixture))
  const send = gross(fixture, due(fixture) + more)
  const instructions = [...payment(fixture, customer, { send }), ...(along?.instructions ?? [])]
  const signature = await land(fixture, instructions, [customer.keypair, ...(along?.signers ?? [])])
  return { customer, settlement: await settlementOf(fixture, { signature, customer, terms: fixture.terms }) }
}

interface Landed {
  readonly signature: Signature
  readonly customer: Customer
  readonly terms: PaymentTerms
}

export async function settlementOf(fixture: ChainFixture, { signature, customer, terms }: Landed): Promise<Settlement> {
  const record = await mustFind(fixture.reader, signature)
  const wallet = addressOf(customer.address)
  const amounts = settle({ record, wallet, price: fixture.price, terms })
  if (isRefusal(amounts)) throw new Error(amounts.message)
  const { slot, blockTimeMs, bytes } = record
  const transactionBase64 = Buffer.from(assertPresent(bytes, 'the bytes are there')).toString('base64')
  return {
    reference: transactionReference(signature),
    wallet,
    price: fixture.price,
    quoteId: undefined,
    memo: undefined,
    ...amounts,
    evidence: {
      kind: 'solana',
      slot,
      blockTimeMs: assertPresent(blockTimeMs, 'a local block has a time'),
      transactionBase64,
    },
  }
}

/** A payment of the whole price without a burn, as clients of x402 make it. */
export async function payWithoutBurn(environment: LifecycleFixture): Promise<Paid> {
  const { fixture } = environment
  const customer = await newCustomer(fixture)
  const amount = gross(fixture, fixture.price.requiredBaseUnits)
  const signature = await sendTokens(environment, customer, amount)
  const terms = { ...fixture.terms, burnMayBeOwed: true } as const
  return { customer, settlement: await settlementOf(fixture, { signature, customer, terms }) }
}

/** Outcome of the request for it. */
export async function serve(
  { ledger }: LifecycleFixture,
  settlement: Settlement,
  ending: 'fulfilled' | 'released' | 'claimed' = 'fulfilled',
): Promise<PaymentState> {
  const { attemptId, change } = claimOf(settlement, { leaseMs: ending === 'claimed' ? 60_000 : 1_000 })
  const { after } = await mustAppend(ledger, change)
  if (ending === 'claimed') return after
  const end = (ending === 'fulfilled' ? fulfilmentOf : releaseOf)(settlement, { before: after, attemptId })
  return (await mustAppend(ledger, end)).after
}

/** Sends tokens without a request. */
export async function sendTokens(
  { fixture }: LifecycleFixture,
  customer: Customer,
  amount: bigint,
): Promise<Signature> {
  return land(fixture, [transferOf(fixture, customer, { send: amount })], [customer.keypair])
}

export function transferFrom(fixture: ChainFixture, to: Customer, amount: bigint): readonly TransactionInstruction[] {
  const { paymentAccount, mint, paymentWallet, program } = fixture
  return [
    createTransferCheckedInstruction(
      paymentAccount,
      mint,
      to.account,
      paymentWallet.publicKey,
      amount,
      decimals,
      [],
      program,
    ),
  ]
}

export async function stateOf({ ledger }: LifecycleFixture, reference: PaymentReference): Promise<PaymentState> {
  const states = await ledger.lifecycle.loadPayments([reference])
  return assertPresent(states.get(reference), 'the payment is in the ledger')
}

/** Balances by account, without those that are zero. Throws where they do not sum to zero. */
export async function balances({
  ledger,
}: Pick<LifecycleFixture, 'ledger'>): Promise<Readonly<Record<string, bigint>>> {
  const all = await trialBalance(ledger.database)
  const sum = all.reduce((total, { baseUnits }) => total + baseUnits, 0n)
  if (sum !== 0n) throw new Error(`the trial balance is ${sum}`)
  return Object.fromEntries(
    all.filter(({ baseUnits }) => baseUnits !== 0n).map(({ account, baseUnits }) => [account, baseUnits]),
  )
}

/** Balance of the payment wallet on chain. */
export async function onChain({ fixture }: LifecycleFixture): Promise<bigint> {
  const { value } = await fixture.connection.getTokenAccountBalance(fixture.paymentAccount, 'processed')
  return BigInt(value.amount)
}
