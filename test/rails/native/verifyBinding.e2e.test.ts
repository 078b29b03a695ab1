import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import { bindingCases } from '../../chain/cases/bindingCases.ts'
import { verdictOf } from '../../chain/cases/verificationCase.ts'
import { type PaymentShop, openPaymentShop } from '../../chain/paymentShop.ts'
import { createTestDatabase } from '../../support/database.ts'

let shop: PaymentShop

beforeAll(async () => {
  shop = await openPaymentShop('Token-2022', (await createTestDatabase()).serviceUrl)
  shop.clock.onSleep(() => shop.chain.advanceSlots(1))
})
afterAll(() => shop.close())
beforeEach(() => shop.node.behave())

for (const { rule, says, verdict, present } of bindingCases) {
  test(`${rule} ${says}: ${verdict}`, async () => {
    const judged = await present(shop)

    expect(verdictOf(judged), isRefusal(judged) ? judged.message : '').toBe(verdict)
    const sentOnlyIfAccepted = verdict === 'accepted' || !shop.node.asked.includes('sendTransaction')
    expect(sentOnlyIfAccepted, 'what would buy nothing is not sent').toBe(true)
  })
}
