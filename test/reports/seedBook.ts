import { assert, assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { PaymentEvent } from '../../src/payment/events.ts'
import { decideFinality, decideRefund, decideUnmatched } from '../../src/payment/finality.ts'
import { evolve, type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { mustAppend } from '../store/instance.ts'
import { claimOf, fulfilmentOf, releaseOf, sampleMint, samplePrice, sampleSettlement } from '../store/samplePayment.ts'

/** One made-up payment, as the paywall and the jobs would have had it booked. */
export interface SeededPayment {
  readonly wallet: Address
  readonly endpoint: string
  readonly requiredBaseUnits: bigint
  /** What arrived beyond the price. */
  readonly overpaidBaseUnits: bigint
  readonly blockTimeMs: number
  readonly end: Answered | 'unmatched' | 'submitted' | 'submitted_unmatched'
}

type Answered = 'claimed' | 'released' | 'fulfilled' | 'refund_due' | 'reversed' | 'reversed_served'

export async function seedPayment(ledger: Ledger, payment: SeededPayment): Promise<string> {
  const price = samplePrice(payment.endpoint, payment.requiredBaseUnits)
  const { wallet, blockTimeMs, overpaidBaseUnits, end } = payment
  const receivedBaseUnits = price.requiredBaseUnits - price.burnBaseUnits + overpaidBaseUnits
  const settlement = sampleSettlement({ price, wallet, blockTimeMs, receivedBaseUnits })
  if (end === 'unmatched') await receive(ledger, settlement, unknownPayment)
  else if (end === 'submitted') await submit(ledger, settlement)
  else if (end === 'submitted_unmatched') await receive(ledger, settlement, await submit(ledger, settlement))
  else await live(ledger, settlement, end)
  return settlement.signature
}

// What comes after an answer comes on another day, or a report by days would not be put to the test.
const laterMs = 2 * 86_400_000

/** Put on record before it is sent for the caller; it never verified. */
async function submit(ledger: Ledger, { signature, wallet, price, blockTimeMs }: Settlement): Promise<PaymentState> {
  const events: readonly PaymentEvent[] = [
    { kind: 'PaymentSubmitted', wallet, endpoint: price.endpoint, quoteId: undefined, transactionBase64: 'AA==' },
  ]
  return (await mustAppend(ledger, { signature, before: unknownPayment, events, nowMs: blockTimeMs })).after
}

async function receive(ledger: Ledger, settlement: Settlement, before: PaymentState): Promise<void> {
  const { signature, wallet, slot, blockTimeMs } = settlement
  // Of a price of one base unit nothing is sent: it is burned.
  const receivedBaseUnits = settlement.receivedBaseUnits + 1n
  const events = decideUnmatched(before, { wallet, mint: sampleMint, slot, receivedBaseUnits })
  const decided = assertPresent(events, 'the book has no payment of it')
  const nowMs = before.phase === 'unknown' ? blockTimeMs : blockTimeMs + laterMs
  await mustAppend(ledger, { signature, before, events: decided, nowMs })
}

async function live(ledger: Ledger, settlement: Settlement, end: Answered) {
  const { blockTimeMs } = settlement
  const { attemptId, change } = claimOf(settlement)
  await mustAppend(ledger, change)
  const before = change.events.reduce((state, event) => evolve(state, event, blockTimeMs), unknownPayment)
  assert(before.version === change.events.length, 'the claim is the first of the payment')
  if (end === 'claimed') return
  const isServed = end === 'fulfilled' || end === 'reversed_served'
  const ended = (isServed ? fulfilmentOf : releaseOf)(settlement, { before, attemptId })
  const { after } = await mustAppend(ledger, ended)
  const add = async (state: PaymentState, events: readonly PaymentEvent[] | undefined) => {
    const { signature } = settlement
    const decided = assertPresent(events, 'the payment is in a state for it')
    return mustAppend(ledger, { signature, before: state, events: decided, nowMs: blockTimeMs + laterMs })
  }
  if (end === 'reversed' || end === 'reversed_served')
    await add(after, decideFinality(after, { kind: 'reversed', reason: 'absent', finalizedSlot: 2_000 }))
  if (end === 'refund_due') {
    const final = await add(after, decideFinality(after, { kind: 'finalized', slot: settlement.slot }))
    await add(final.after, decideRefund(final.after))
  }
}
