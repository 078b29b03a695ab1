import { expect, test } from 'vitest'
import { createRentGuard } from '../../packages/client/src/rentGuard.ts'
import type { PaymentPlan } from '../../packages/client/src/planPayment.ts'

/** A plan with the token account of a service. The guard reads nothing else of it. */
const planOf = (paymentTokenAccount: string, createsTokenAccount: boolean) =>
  ({ quote: { paymentTokenAccount }, createsTokenAccount }) as PaymentPlan

test('the rent of a token account is paid once, also if other payments follow before the account is gone again', () => {
  const guard = createRentGuard()
  expect(guard.admit(planOf('one', true))).toBeUndefined()
  expect(guard.admit(planOf('other', true)), 'a second account').toMatchObject({ problem: 'token_account_missing' })
  guard.delivered(planOf('one', true))
  guard.delivered(planOf('one', false))
  expect(guard.admit(planOf('one', false))).toBeUndefined()
  expect(guard.admit(planOf('one', true))).toMatchObject({ problem: 'token_account_missing' })
})
