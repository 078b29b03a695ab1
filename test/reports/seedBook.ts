import { assert } from '../../src/primitives/assert.ts'
import type { Address } from '../../src/payment/address.ts'
import { evolve, unknownPayment } from '../../src/payment/payment.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { mustAppend } from '../store/instance.ts'
import { claimOf, fulfilmentOf, releaseOf, samplePrice, sampleSettlement } from '../store/samplePayment.ts'

/** One made-up payment, as the paywall would have had it booked. */
export interface SeededPayment {
  readonly wallet: Address
  readonly endpoint: string
  readonly requiredBaseUnits: bigint
  /** What arrived beyond the price. */
  readonly overpaidBaseUnits: bigint
  readonly blockTimeMs: number
  readonly end: 'claimed' | 'released' | 'fulfilled'
}

export async function seedPayment(ledger: Ledger, payment: SeededPayment): Promise<string> {
  const price = samplePrice(payment.endpoint, payment.requiredBaseUnits)
  const { wallet, blockTimeMs, overpaidBaseUnits, end } = payment
  const receivedBaseUnits = price.requiredBaseUnits - price.burnBaseUnits + overpaidBaseUnits
  const settlement = sampleSettlement({ price, wallet, blockTimeMs, receivedBaseUnits })
  const { attemptId, change } = claimOf(settlement)
  await mustAppend(ledger, change)
  const before = change.events.reduce((state, event) => evolve(state, event, blockTimeMs), unknownPayment)
  assert(before.version === change.events.length, 'the claim is the first of the payment')
  if (end === 'fulfilled') await mustAppend(ledger, fulfilmentOf(settlement, { before, attemptId }))
  if (end === 'released') await mustAppend(ledger, releaseOf(settlement, { before, attemptId }))
  return settlement.signature
}
