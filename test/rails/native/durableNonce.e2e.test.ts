import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import { verdictOf } from '../../chain/cases/verificationCase.ts'
import { type Customer, newCustomer, send, sendAndConfirm } from '../../chain/chainFixture.ts'
import { openNonce, signWithNonce } from '../../chain/durableNonce.ts'
import { payment } from '../../chain/fixtureTokens.ts'
import {
  openVerifierFixture,
  passLandingBound,
  present,
  quoteFor,
  transactionProof,
  type VerifierFixture,
} from '../../chain/verifierFixture.ts'
import { createTestDatabase } from '../../support/database.ts'

/* A payment with a durable nonce can land at any time, so no height proves that it never will. */

let verifier: VerifierFixture
beforeAll(async () => {
  verifier = await openVerifierFixture('SPL Token', (await createTestDatabase()).serviceUrl)
})
afterAll(() => verifier.close())
beforeEach(() => verifier.clock.onSleep(() => verifier.chain.advanceSlots(1)))

async function signPayment() {
  const payer = await newCustomer(verifier)
  await quoteFor(verifier, payer)
  const nonce = await openNonce(verifier, payer.keypair)
  return { payer, bytes: (await signWithNonce(verifier, nonce, payment(verifier, payer))).serialize() }
}

/** Nodes were asked before, and a lookup that found nothing is remembered for a slot. */
const presentBytes = (payer: Customer, bytes: Uint8Array) => {
  verifier.clock.advance(1_000)
  return present(verifier, payer, transactionProof(bytes))
}

test('it is not sent, and buys once it has landed, however much later', async () => {
  const { payer, bytes } = await signPayment()
  verifier.chain.forgetRequestCounts()
  expect(verdictOf(await presentBytes(payer, bytes))).toBe('durable_nonce')
  await passLandingBound(verifier)
  expect(verdictOf(await presentBytes(payer, bytes))).toBe('durable_nonce')
  expect(verifier.chain.requestCounts().get('sendTransaction')).toBeUndefined()
  await sendAndConfirm(verifier, bytes)
  expect(verdictOf(await presentBytes(payer, bytes))).toBe('accepted')
})

test('its absence is never proven: it lands again after its fork was dropped long after its first presentation', async () => {
  const { payer, bytes } = await signPayment()
  const presentOnFork = async () => {
    const fork = verifier.chain.markFork()
    await send(verifier, bytes)
    verifier.clock.onSleep(() => {
      verifier.chain.dropFork(fork)
      verifier.clock.onSleep(() => undefined)
    })
    return presentBytes(payer, bytes)
  }
  expect(verdictOf(await presentOnFork())).toBe('PAYMENT_PENDING')
  await passLandingBound(verifier)
  const judged = await presentOnFork()
  expect(verdictOf(judged), isRefusal(judged) ? judged.message : '').toBe('PAYMENT_PENDING')
  verifier.clock.onSleep(() => verifier.chain.advanceSlots(1))
  await sendAndConfirm(verifier, bytes)
  expect(verdictOf(await presentBytes(payer, bytes))).toBe('accepted')
})
