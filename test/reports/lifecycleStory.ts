import { noFinalityMemory } from '../../src/jobs/finalityJob.ts'
import { recordStep } from '../../src/jobs/recordStep.ts'
import { scanTransfers } from '../../src/jobs/transferScanJob.ts'
import { decideFinality } from '../../src/payment/finality.ts'
import { type PaymentReference, transactionReference } from '../../src/payment/paymentReference.ts'
import { assertPresent } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import type { ReportName } from '../../src/reports/readReport.ts'
import { newCustomer, sendAndConfirm } from '../chain/chainFixture.ts'
import { finalityRound, pay, refundRound, sendTokens, serve, stateOf } from '../jobs/lifecycleFixture.ts'
import { type PayoutFixture, sendPart } from '../payout/payoutFixture.ts'
import { type Given, type LedgerView, readLedgerView } from './ledgerView.ts'

/*
 * Every outcome of a payment after its answer, and a payout in two parts, in one ledger over four days. The ledger is
 * read before the payout, between its two parts, and after it.
 */

export const overpaid = 500n
export const unasked = 7_000n
/** Tokens of each customer; no other wallet has tokens. */
const purse = 10_000_000n

export interface Lifecycles {
  readonly served: PaymentReference
  readonly overpaid: PaymentReference
  readonly refunded: PaymentReference
  readonly unmatched: PaymentReference
  readonly reversedUnserved: PaymentReference
  readonly reversedServed: PaymentReference
  readonly landedAfterAll: PaymentReference
  readonly payouts: readonly [PaymentReference, PaymentReference]
  /** UTC days: of the payments, of their later events, of the payout. */
  readonly days: readonly [string, string, string]
  readonly minted: bigint
  readonly owed: LedgerView
  readonly partlyPaid: LedgerView
  readonly paid: LedgerView
}

const dayMs = 86_400_000
const settleAgeMs = 3_600_000
/** Enough slots that no earlier transaction can land any more. */
const longAgo = 400

export async function runLifecycles(environment: PayoutFixture): Promise<Lifecycles> {
  // From noon, so that no step crosses midnight, whenever the test runs.
  const { clock } = environment
  clock.advance(dayMs - ((clock.nowMs() + dayMs / 2) % dayMs))
  const first = dayOf(environment)
  const paid = await payEverything(environment)
  clock.advance(dayMs)
  const second = dayOf(environment)
  await followUp(environment, paid)
  const days = [first, second, isoTime(clock.nowMs() + dayMs).slice(0, 10)] as const
  const questions = everyQuestion(days)

  const owed = await readLedgerView(environment, questions)
  clock.advance(dayMs)
  // The block that is being made has the time of the day before.
  environment.fixture.chain.advanceSlots(1)
  // Losses by reversals are missing in the wallet, so the provider is not paid.
  const destinations = new Map([...environment.destinations].filter(([share]) => share !== 'provider'))
  const { plan: created } = await environment.payout.plan({ destinations, leastBaseUnits: 0n })
  const plan = assertPresent(created, 'something is owed')
  const one = await sendPart(environment, plan, 1)
  await environment.payout.record(plan, one)
  const partlyPaid = await readLedgerView(environment, questions)
  const two = await sendPart(environment, plan, 2)
  await environment.payout.record(plan, two)
  const after = await readLedgerView(environment, questions)
  return {
    ...paid,
    payouts: [transactionReference(one), transactionReference(two)],
    days,
    minted: purse * 7n,
    owed,
    partlyPaid,
    paid: after,
  }
}

function dayOf({ clock }: PayoutFixture): string {
  return isoTime(clock.nowMs()).slice(0, 10)
}

type Payments = Pick<
  Lifecycles,
  'served' | 'overpaid' | 'refunded' | 'unmatched' | 'reversedUnserved' | 'reversedServed' | 'landedAfterAll'
>

async function payEverything(environment: PayoutFixture): Promise<Payments> {
  const { fixture, deps } = environment
  const customer = () => newCustomer(fixture, purse)
  // Before the fork, so that these customers keep their tokens.
  const [five, six, seven] = [await customer(), await customer(), await customer()]

  const { settlement: served } = await pay(environment, 0n, await customer())
  await serve(environment, served)
  const { settlement: overpaidOne } = await pay(environment, overpaid, await customer())
  await serve(environment, overpaidOne)
  const { settlement: refunded } = await pay(environment, 0n, await customer())
  await serve(environment, refunded, 'released')
  const unmatched = transactionReference(await sendTokens(environment, await customer(), unasked))

  const fork = fixture.chain.markFork()
  // First, so that its blockhash is from before the fork.
  const { settlement: landed } = await pay(environment, 0n, seven)
  await serve(environment, landed)
  const { settlement: reversedUnserved } = await pay(environment, 5n, five)
  await serve(environment, reversedUnserved, 'released')
  const { settlement: reversedServed } = await pay(environment, 7n, six)
  await serve(environment, reversedServed)
  fixture.chain.dropFork(fork)
  // A wrong node reverses it, which no rule of ours should allow; and it lands after all.
  const before = await stateOf(environment, landed.reference)
  const wrong = { kind: 'reversed', reason: 'absent', finalizedSlot: 1 } as const
  const decision = decideFinality(before, wrong)
  await recordStep(deps, { kind: 'reversed', reference: landed.reference, before, decision })
  await sendAndConfirm(fixture, Buffer.from(landed.evidence.transactionBase64 ?? '', 'base64'))
  return {
    served: served.reference,
    overpaid: overpaidOne.reference,
    refunded: refunded.reference,
    unmatched,
    reversedUnserved: reversedUnserved.reference,
    reversedServed: reversedServed.reference,
    landedAfterAll: landed.reference,
  }
}

/** The jobs of the next day. */
async function followUp(environment: PayoutFixture, { reversedServed }: Payments): Promise<void> {
  const { fixture, clock, deps } = environment
  const memory = noFinalityMemory()
  fixture.chain.advanceSlots(longAgo)
  await finalityRound(environment, memory)
  clock.advance(10_000)
  await finalityRound(environment, memory)
  const { phase } = await stateOf(environment, reversedServed)
  if (phase !== 'reversed') throw new Error(`the dropped payment is ${phase}`)
  await refundRound(environment, 0)
  clock.advance(settleAgeMs)
  await scanTransfers({ ...deps, terms: fixture.terms, settleAgeMs })
}

export function rangesOf([first, second, third]: Lifecycles['days']): readonly Given[] {
  return [
    {},
    { from: first, to: first },
    { from: second, to: second },
    { from: third, to: third },
    { to: second },
    { from: second },
  ]
}

function everyQuestion(days: Lifecycles['days']): readonly (readonly [ReportName, Given])[] {
  const states = ['fulfilled', 'refund_due', 'reversed', 'unmatched']
  return [
    ...rangesOf(days).flatMap((range): (readonly [ReportName, Given])[] => [
      ['payments', range],
      ['trial-balance', range],
      ['payouts', range],

      ...['day', 'endpoint', 'wallet'].flatMap((by): (readonly [ReportName, Given])[] => [
        ['burns', { ...range, by }],
        ['distributions', { ...range, by }],
      ]),
    ]),
    ...states.map((state): readonly [ReportName, Given] => ['payments', { state }]),
    ['payments', { endpoint: 'unmatched' }],
    ['liabilities', {}],
    ['liabilities', { owedTo: 'wallets' }],
  ]
}
