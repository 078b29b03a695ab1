import { expect, test } from 'vitest'
import { createRentGuard } from '../../packages/client/src/rentGuard.ts'
import type { PendingPayment } from '../../packages/client/src/pendingPayment.ts'
import type { PaymentPlan } from '../../packages/client/src/planPayment.ts'
import { openScene, rejectionOf } from './support/payerScene.ts'
import { finalTip, lastValidBlockHeight, statusAnswer } from './support/scriptedNode.ts'

/** A plan with the token account of a service. The guard reads nothing else of it. */
const planOf = (paymentTokenAccount: string, createsTokenAccount: boolean) =>
  ({ quote: { paymentTokenAccount }, createsTokenAccount }) as PaymentPlan
const payment = { signature: 's', lastValidBlockHeight: 1 } as PendingPayment
const landed = {
  finalizedTip: () => Promise.resolve({ slot: 1, height: 10 }),
  findStatus: () => Promise.resolve('confirmed' as const),
}

test('the rent of a token account is paid once, also if other payments follow before the account is gone again', async () => {
  const guard = createRentGuard(landed)
  expect(await guard.admit(planOf('one', true))).toBeUndefined()
  expect(await guard.admit(planOf('other', true)), 'a second account').toMatchObject({
    problem: 'token_account_missing',
  })
  guard.ended(planOf('one', true), payment)
  guard.ended(planOf('one', false), payment)
  expect(await guard.admit(planOf('one', false))).toBeUndefined()
  expect(await guard.admit(planOf('one', true))).toMatchObject({ problem: 'token_account_missing' })
})

test.each(['INVALID_PAYMENT', 'anything'])(
  'a service that creates its account by payments that it refuses as %s gets the rent of one',
  async (code) => {
    const { payingFetch, service, wallet, url } = await openScene()
    service.node.token = [service.node.token[0], null]
    const refusal = { status: 402, body: { error: 'no', code, reason: 'simulation_failed' } }
    service.script = [refusal, refusal]
    const buy = (symbol: string) => rejectionOf(payingFetch(url(`/api/data/crypto?symbol=${symbol}`)))
    await buy('A')
    expect(await buy('B')).toMatchObject({ problem: 'token_account_missing' })
    expect(wallet.signed).toBe(1)
    // The first payment never landed, so the account may be created after all.
    service.node.answers['getEpochInfo'] = () => finalTip(lastValidBlockHeight + 1)
    service.node.answers['getSignatureStatuses'] = () => statusAnswer('not_found')
    await buy('C')
    expect(wallet.signed).toBe(2)
  },
)
