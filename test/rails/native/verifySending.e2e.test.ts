import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import { sendingCases, sendingKinds } from '../../chain/cases/sendingCases.ts'
import { verdictOf } from '../../chain/cases/verificationCase.ts'
import { type VerifierFixture, openVerifierFixture } from '../../chain/verifierFixture.ts'
import { createTestDatabase } from '../../support/database.ts'

describe.each(sendingKinds)('%s', (kind) => {
  let verifier: VerifierFixture

  beforeAll(async () => {
    verifier = await openVerifierFixture(kind, (await createTestDatabase()).serviceUrl)
    verifier.clock.onSleep(() => verifier.chain.advanceSlots(1))
  })
  afterAll(() => verifier.close())

  for (const { rule, says, verdict, present } of sendingCases.filter(({ kinds }) => kinds.includes(kind))) {
    test(`${rule} ${says}: ${verdict}`, async () => {
      const judged = await present(verifier)

      expect(verdictOf(judged), isRefusal(judged) ? judged.message : '').toBe(verdict)
      const wasSent = verifier.chain.requestCounts().get('sendTransaction') ?? 0
      const hadLanded = rule === '11h'
      if (freeVerdicts.has(verdict) || rule === '11j')
        expect(verifier.chain.requestCounts(), 'no node is asked').toEqual(new Map())
      expect(wasSent, 'only what buys is sent, and once').toBe(verdict === 'accepted' && !hadLanded ? 1 : 0)
    })
  }
})

/** Verdicts from the bytes alone. */
const freeVerdicts = new Set<string>(['wallet_did_not_sign', 'signature_invalid', 'malformed_proof'])
