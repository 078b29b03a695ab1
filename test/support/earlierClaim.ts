import { assert } from '@tollbook/core/assert'
import type { PaymentDecision } from '../../src/payment/payment.ts'
import { isPaidWhole } from '../../src/payment/settlement.ts'

/**
 * A first claim as releases up to 0028 made it: a burn that is ours to make was owed from the claim on. Their ledgers have such
 * payments, and an instance of theirs may still write some during an upgrade.
 */
export function earlierClaim({ step, events }: PaymentDecision): PaymentDecision {
  const [verified, ...others] = events
  assert(verified?.kind === 'PaymentVerified', 'a first claim verifies the payment')
  const { settlement } = verified
  if (!isPaidWhole(settlement)) return { step, events }
  const { mint, endpoint, burnBaseUnits: owedBaseUnits } = settlement.price
  return { step, events: [verified, { kind: 'BurnOwed', mint, endpoint, owedBaseUnits }, ...others] }
}
