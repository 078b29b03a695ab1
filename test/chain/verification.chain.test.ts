import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRefusal } from '../../src/payment/refusal.ts'
import { allCases } from './cases/allCases.ts'
import { judge, verdictOf } from './cases/verificationCase.ts'
import { type PaymentLab, due, mintKinds, openPaymentLab } from './paymentLab.ts'

/*
 * Every row of the table in docs/verification.md: a real transaction, executed by the real token programs, read over HTTP
 * with the adapter of the service, and judged by its rules.
 */
describe.each(mintKinds)('%s', (kind) => {
  let lab: PaymentLab

  beforeAll(async () => {
    lab = await openPaymentLab(kind)
  })
  afterAll(() => lab.chain.close())

  const cases = allCases.filter(({ kinds }) => kinds.includes(kind))

  test.each(cases)('$rule $says: $verdict', async ({ pay, verdict }) => {
    const presented = await pay(lab)
    lab.chain.forgetRequestCounts()

    const judged = await judge(lab, presented)

    expect(verdictOf(judged), judged !== undefined && isRefusal(judged) ? judged.message : '').toBe(verdict)
    expect(lab.chain.requestCounts(), 'one call for each verified signature').toEqual(new Map([['getTransaction', 1]]))
    if (judged === undefined || isRefusal(judged)) return
    // I12: what the service books as burned and received is never less than the price.
    expect(judged.burnedBaseUnits).toBeGreaterThanOrEqual(lab.price.burnBaseUnits)
    expect(judged.receivedBaseUnits).toBeGreaterThanOrEqual(due(lab))
  })
})
