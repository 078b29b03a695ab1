import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import { sendingCases, sendingKinds } from '../../chain/cases/sendingCases.ts'
import { verdictOf } from '../../chain/cases/verificationCase.ts'
import { type PaymentShop, openPaymentShop } from '../../chain/paymentShop.ts'
import { createTestDatabase } from '../../support/database.ts'

describe.each(sendingKinds)('%s', (kind) => {
  let shop: PaymentShop

  beforeAll(async () => {
    shop = await openPaymentShop(kind, (await createTestDatabase()).serviceUrl)
    shop.clock.onSleep(() => shop.chain.advanceSlots(1))
  })
  afterAll(() => shop.close())

  for (const { rule, says, verdict, present } of sendingCases.filter(({ kinds }) => kinds.includes(kind))) {
    test(`${rule} ${says}: ${verdict}`, async () => {
      const judged = await present(shop)

      expect(verdictOf(judged), isRefusal(judged) ? judged.message : '').toBe(verdict)
      const wasSent = shop.chain.requestCounts().get('sendTransaction') ?? 0
      const hadLanded = rule === '11h'
      if (freeVerdicts.has(verdict)) expect(shop.chain.requestCounts(), 'no node is asked').toEqual(new Map())
      expect(wasSent, 'only what buys is sent, and once').toBe(verdict === 'accepted' && !hadLanded ? 1 : 0)
    })
  }
})

/** What can be said of the bytes alone. */
const freeVerdicts = new Set<string>(['wallet_did_not_sign', 'signature_invalid', 'malformed_proof'])
