import { assert, assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { Price } from '@tollbook/core/quote'
import { decideFinality, decideRefund, decideUnmatched } from '../../src/payment/finality.ts'
import { decideBreak, decideStart } from '../../src/payment/attempt.ts'
import { type PaymentDecision, type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import { decideSubmit } from '../../src/payment/submission.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { mustAppend } from '../store/instance.ts'
import {
  claimOf,
  fulfilmentOf,
  releaseOf,
  sampleEvidence,
  samplePrice,
  sampleSettlement,
} from '../store/samplePayment.ts'

/** A made-up payment, recorded as the paywall and the jobs record it. */
export interface SeededPayment {
  readonly wallet: Address
  readonly endpoint: string
  readonly requiredBaseUnits: bigint
  /** Received beyond the price. */
  readonly overpaidBaseUnits: bigint
  readonly blockTimeMs: number
  readonly end: (typeof ends)[number]
  /** The payer sent the whole price, and the burn is owed. */
  readonly isPaidWhole?: boolean
  /** Replaces the price of the endpoint. */
  readonly price?: Price
  /** Owner of tokens that came without a request. Default: the wallet. */
  readonly owner?: Address | undefined
}

export const ends = [
  'claimed',
  'released',
  'broken',
  'fulfilled',
  'streamed',
  'finalized',
  'refund_due',
  'reversed',
  'reversed_served',
  'unmatched',
  'submitted',
  'submitted_unmatched',
] as const

/** Returns the reference of the payment. */
export async function seedPayment(ledger: Ledger, payment: SeededPayment): Promise<string> {
  const settlement = settlementOf(payment)
  const { end, owner } = payment
  const receive = (before: PaymentState) => receiveUnmatched(ledger, settlement, { owner, before })
  if (end === 'unmatched') await receive(unknownPayment)
  else if (end === 'submitted') await submit(ledger, settlement)
  else if (end === 'submitted_unmatched') await receive(await submit(ledger, settlement))
  else await serve(ledger, settlement, end)
  return settlement.reference
}

function settlementOf({
  wallet,
  blockTimeMs,
  overpaidBaseUnits,
  isPaidWhole = false,
  ...given
}: SeededPayment): Settlement {
  const price = given.price ?? samplePrice(given.endpoint, given.requiredBaseUnits)
  const burnedBaseUnits = isPaidWhole ? 0n : price.burnBaseUnits
  const receivedBaseUnits = price.requiredBaseUnits - burnedBaseUnits + overpaidBaseUnits
  const evidence = sampleEvidence({ blockTimeMs })
  return sampleSettlement({ price, wallet, evidence, burnedBaseUnits, receivedBaseUnits })
}

// Events after an answer have another day, or a report by days would not be put to the test.
const laterMs = 2 * 86_400_000

/** Recorded before it is sent for the caller. */
async function submit(ledger: Ledger, { reference, wallet, price, evidence }: Settlement): Promise<PaymentState> {
  const command = { wallet, endpoint: price.endpoint, quoteId: undefined, transactionBase64: 'AA==' }
  const decision = assertPresent(decideSubmit(unknownPayment, command), 'the ledger does not have the payment')
  const nowMs = evidence.blockTimeMs
  return (await mustAppend(ledger, { reference, before: unknownPayment, ...decision, nowMs })).after
}

async function receiveUnmatched(
  ledger: Ledger,
  settlement: Settlement,
  { owner, before }: Pick<SeededPayment, 'owner'> & { readonly before: PaymentState },
): Promise<void> {
  const { reference, wallet: payer, price, evidence } = settlement
  const wallet = owner ?? payer
  // A price of one base unit is burned as a whole, and nothing is sent.
  const receivedBaseUnits = settlement.receivedBaseUnits + 1n
  const decision = decideUnmatched(before, { wallet, mint: price.mint, slot: evidence.slot, receivedBaseUnits })
  const nowMs = evidence.blockTimeMs + (before.phase === 'unknown' ? 0 : laterMs)
  await mustAppend(ledger, { reference, before, ...assertPresent(decision, 'the ledger has no settlement'), nowMs })
}

type ServedEnd = Exclude<SeededPayment['end'], 'unmatched' | 'submitted' | 'submitted_unmatched'>

async function serve(ledger: Ledger, settlement: Settlement, end: ServedEnd): Promise<void> {
  const { reference, evidence } = settlement
  const add = async (before: PaymentState, decision: PaymentDecision | undefined, afterMs = laterMs) => {
    const decided = assertPresent(decision, `the payment can become ${end}`)
    return (await mustAppend(ledger, { reference, before, ...decided, nowMs: evidence.blockTimeMs + afterMs })).after
  }
  const { attemptId, change } = claimOf(settlement)
  const claimed = (await mustAppend(ledger, change)).after
  assert(claimed.version === change.events.length, 'the claim is the first append of the payment')
  if (end === 'claimed') return
  if (end === 'broken') {
    const started = await add(claimed, decideStart(claimed, attemptId), 100)
    await add(started, decideBreak(started, { attemptId, bytes: 17, digest: 'cd'.repeat(32), attemptsMax: 10 }), 200)
    return
  }
  const before = end === 'streamed' ? await add(claimed, decideStart(claimed, attemptId), 100) : claimed
  const isReleased = end === 'released' || end === 'refund_due' || end === 'reversed'
  const answered = (isReleased ? releaseOf : fulfilmentOf)(settlement, { before, attemptId })
  const { after } = await mustAppend(ledger, answered)
  if (end === 'reversed' || end === 'reversed_served')
    await add(after, decideFinality(after, { kind: 'reversed', reason: 'absent', finalizedSlot: 2_000 }))
  if (end === 'refund_due' || end === 'finalized') {
    const final = await add(after, decideFinality(after, { kind: 'finalized', slot: evidence.slot }))
    if (end === 'refund_due') await add(final, decideRefund(final))
  }
}
