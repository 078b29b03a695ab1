import { recordFinality, noFinalityMemory } from '../../src/jobs/finalityJob.ts'
import { recordStep } from '../../src/jobs/recordStep.ts'
import { recordRefunds } from '../../src/jobs/refundJob.ts'
import { scanTransfers } from '../../src/jobs/transferScanJob.ts'
import { decideFinality } from '../../src/payment/finality.ts'
import type { Signature } from '@tollbook/core/signature'
import { assertPresent } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import type { ReportName } from '../../src/reports/reportQuestion.ts'
import { newCustomer, sendAndConfirm } from '../chain/paymentLab.ts'
import { pay, sendTokens, serve, stateOf } from '../jobs/lifeGround.ts'
import { type PayoutGround, sendPart } from '../payout/payoutGround.ts'
import { type BookSeen, type Given, seeBook } from './bookSeen.ts'

/*
 * Everything that can happen to a payment after its answer, and what pays it out, on one book over four days. The book is
 * looked at before anything was paid out, between the two parts of the payout, and after it.
 */

export const overpaid = 500n
export const unasked = 7_000n
/** What each customer was given; nobody else has tokens. */
const purse = 10_000_000n

export interface Story {
  readonly served: Signature
  readonly overpaid: Signature
  readonly refunded: Signature
  readonly unmatched: Signature
  readonly reversedUnserved: Signature
  readonly reversedServed: Signature
  readonly landedAfterAll: Signature
  readonly payouts: readonly [Signature, Signature]
  /** UTC days: of the payments, of what became of them, of the payout. */
  readonly days: readonly [string, string, string]
  readonly minted: bigint
  readonly owed: BookSeen
  readonly partlyPaid: BookSeen
  readonly paid: BookSeen
}

const dayMs = 86_400_000
const settleAgeMs = 3_600_000
/** Enough slots that nothing of before can land any more. */
const longAgo = 400

export async function tellStory(ground: PayoutGround): Promise<Story> {
  // From noon, so that no step of the story crosses midnight, whenever the test runs.
  const { clock } = ground
  clock.advance(dayMs - ((clock.nowMs() + dayMs / 2) % dayMs))
  const first = dayOf(ground)
  const paid = await payEverything(ground)
  clock.advance(dayMs)
  const second = dayOf(ground)
  await followUp(ground, paid)
  const days = [first, second, isoTime(clock.nowMs() + dayMs).slice(0, 10)] as const
  const questions = everyQuestion(days)

  const owed = await seeBook(ground, questions)
  clock.advance(dayMs)
  // The block that is being made has the time of the day before.
  ground.lab.chain.advanceSlots(1)
  // What was lost to reversals is not in the wallet, so the provider has to wait until somebody puts it in.
  const destinations = { ...ground.destinations, provider: undefined }
  const plan = assertPresent(await ground.payout.plan({ destinations, leastBaseUnits: 0n }), 'something is owed')
  const one = await sendPart(ground, plan, 1)
  await ground.payout.record(plan, one)
  const partlyPaid = await seeBook(ground, questions)
  const two = await sendPart(ground, plan, 2)
  await ground.payout.record(plan, two)
  const after = await seeBook(ground, questions)
  return { ...paid, payouts: [one, two], days, minted: purse * 7n, owed, partlyPaid, paid: after }
}

function dayOf({ clock }: PayoutGround): string {
  return isoTime(clock.nowMs()).slice(0, 10)
}

type Payments = Pick<
  Story,
  'served' | 'overpaid' | 'refunded' | 'unmatched' | 'reversedUnserved' | 'reversedServed' | 'landedAfterAll'
>

async function payEverything(ground: PayoutGround): Promise<Payments> {
  const { lab, deps } = ground
  const customer = () => newCustomer(lab, purse)
  // Before the fork, so that what they were given stays given.
  const [five, six, seven] = [await customer(), await customer(), await customer()]

  const { settlement: served } = await pay(ground, 0n, await customer())
  await serve(ground, served)
  const { settlement: overpaidOne } = await pay(ground, overpaid, await customer())
  await serve(ground, overpaidOne)
  const { settlement: refunded } = await pay(ground, 0n, await customer())
  await serve(ground, refunded, 'released')
  const unmatched = await sendTokens(ground, await customer(), unasked)

  const fork = lab.chain.markFork()
  // First, so that its blockhash is from before the fork.
  const { settlement: landed } = await pay(ground, 0n, seven)
  await serve(ground, landed)
  const { settlement: reversedUnserved } = await pay(ground, 5n, five)
  await serve(ground, reversedUnserved, 'released')
  const { settlement: reversedServed } = await pay(ground, 7n, six)
  await serve(ground, reversedServed)
  lab.chain.dropFork(fork)
  // Reversed by a node that was wrong, as no rule of ours should allow; and it lands after all.
  const before = await stateOf(ground, landed.signature)
  const wrong = { kind: 'reversed', reason: 'absent', finalizedSlot: 1 } as const
  const events = decideFinality(before, wrong)
  await recordStep(deps, { kind: 'reversed', ...landed, before, events })
  await sendAndConfirm(lab, Buffer.from(landed.transactionBase64 ?? '', 'base64'))
  return {
    served: served.signature,
    overpaid: overpaidOne.signature,
    refunded: refunded.signature,
    unmatched,
    reversedUnserved: reversedUnserved.signature,
    reversedServed: reversedServed.signature,
    landedAfterAll: landed.signature,
  }
}

/** What the jobs make of it on the next day. */
async function followUp(ground: PayoutGround, { reversedServed }: Payments): Promise<void> {
  const { lab, clock, deps } = ground
  const memory = noFinalityMemory()
  lab.chain.advanceSlots(longAgo)
  await recordFinality(deps, memory)
  clock.advance(10_000)
  await recordFinality(deps, memory)
  const { phase } = await stateOf(ground, reversedServed)
  if (phase !== 'reversed') throw new Error(`the dropped payment is ${phase}`)
  await recordRefunds({ ...deps, refundAfterMs: 0 })
  clock.advance(settleAgeMs)
  await scanTransfers({ ...deps, terms: lab.terms, settleAgeMs })
}

export function rangesOf([first, second, third]: Story['days']): readonly Given[] {
  return [
    {},
    { from: first, to: first },
    { from: second, to: second },
    { from: third, to: third },
    { to: second },
    { from: second },
  ]
}

function everyQuestion(days: Story['days']): readonly (readonly [ReportName, Given])[] {
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
