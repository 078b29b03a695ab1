import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import { ageCases, landPrice, priceCases } from '../../chain/cases/priceCases.ts'
import { verdictOf } from '../../chain/cases/verificationCase.ts'
import { newCustomer } from '../../chain/chainFixture.ts'
import {
  type VerifierFixture,
  listRequiredBaseUnits,
  openVerifierFixture,
  present,
  signatureProof,
} from '../../chain/verifierFixture.ts'
import { createTestDatabase } from '../../support/database.ts'

let verifier: VerifierFixture

beforeAll(async () => {
  verifier = await openVerifierFixture('SPL Token', (await createTestDatabase()).serviceUrl)
})
afterAll(() => verifier.close())
beforeEach(() => verifier.node.behave())

for (const { rule, says, verdict, present: presenting } of [...ageCases, ...priceCases]) {
  test(`${rule} ${says}: ${verdict}`, async () => {
    const { judged, quoteId, requiredBaseUnits } = await presenting(verifier)

    expect(verdictOf(judged), isRefusal(judged) ? judged.message : '').toBe(verdict)
    expect(verifier.node.asked, 'one call for each verified signature').toEqual(['getTransaction'])
    if (isRefusal(judged)) return
    expect(judged).toMatchObject({ quoteId, price: { requiredBaseUnits } })
  })
}

test('9f a payment without a quote has the price of the list in force when it landed, not of a later one', async () => {
  const own = await openVerifierFixture('SPL Token', (await createTestDatabase()).serviceUrl)
  onTestFinished(() => own.close())
  const payer = await newCustomer(own)
  const signature = await landPrice(own, payer, listRequiredBaseUnits)
  own.clock.advance(5_000)
  await own.publishPrice(2n * listRequiredBaseUnits)

  const judged = await present(own, payer, signatureProof(signature))

  expect(judged).toMatchObject({ quoteId: undefined, price: { requiredBaseUnits: listRequiredBaseUnits } })
})
