import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PaymentError } from '@tollbook/client/paymentError'
import { invalidPaymentReasons } from '@tollbook/core/refusal'
import { openScene } from './support/payerScene.ts'
import type { Step } from './support/scriptedService.ts'
import { rounds } from '../support/rounds.ts'

const codes = [
  'PAYMENT_PENDING',
  'PAYMENT_IN_PROGRESS',
  'INSUFFICIENT_BALANCE',
  'UPSTREAM_FAILED',
  'NO_DATA',
  'PAYMENT_REQUIRED',
  'X',
]

/** Anything that a service, a proxy or a broken line may do with a paid request. */
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Step>('deliver', 'reset', 'cut', 'hang') },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(400, 402, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504), fc.constantFrom(...codes))
      .map(([status, code]) => ({ status, body: { error: 'no', code } })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(...Object.keys(invalidPaymentReasons))
      .map((reason) => ({ status: 402, body: { error: 'no', code: 'INVALID_PAYMENT', reason } })),
  },
  {
    weight: 1,
    arbitrary: fc.nat(15).map((after) => ({ status: 503, body: '', headers: { 'retry-after': `${after}` } })),
  },
  { weight: 1, arbitrary: fc.webUrl().map((location) => ({ status: 308, body: '', headers: { location } })) },
)

test('for every outcome of a paid request, one payment is signed, and the call returns its answer or the payment itself', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (script) => {
      const { payingFetch, service, wallet, proofs, keys, url } = await openScene()
      service.script = [...script]
      const outcome = await payingFetch(url('/api/data/crypto?symbol=BTC')).catch((error: unknown) => error)
      expect([wallet.signed, service.unpaid.length, proofs().length, keys().length]).toEqual([1, 1, 1, 1])
      expect(service.presented.length).toBeLessThanOrEqual(10)
      if (outcome instanceof Response) expect(await outcome.json()).toMatchObject({ success: true })
      else expect(outcome instanceof PaymentError && outcome.payment.proof).toBe(proofs()[0])
    }),
    { numRuns: rounds(80) },
  )
})
