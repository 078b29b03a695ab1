import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import { bindingCases } from '../../chain/cases/bindingCases.ts'
import { verdictOf } from '../../chain/cases/verificationCase.ts'
import { type VerifierFixture, openVerifierFixture } from '../../chain/verifierFixture.ts'
import { createTestDatabase } from '../../support/database.ts'

let verifier: VerifierFixture

beforeAll(async () => {
  verifier = await openVerifierFixture('Token-2022', (await createTestDatabase()).serviceUrl)
  verifier.clock.onSleep(() => verifier.chain.advanceSlots(1))
})
afterAll(() => verifier.close())
beforeEach(() => verifier.node.behave())

for (const { rule, says, verdict, present } of bindingCases) {
  test(`${rule} ${says}: ${verdict}`, async () => {
    const judged = await present(verifier)

    expect(verdictOf(judged), isRefusal(judged) ? judged.message : '').toBe(verdict)
    const sentOnlyIfAccepted = verdict === 'accepted' || !verifier.node.asked.includes('sendTransaction')
    expect(sentOnlyIfAccepted, 'what would buy nothing is not sent').toBe(true)
  })
}
