import { expect, onTestFinished, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { NodeBehaviour } from '@tollbook/localnet/localChain'
import { verdictOf } from '../../chain/cases/verificationCase.ts'
import { present, proofMaxAgeMs, type VerifierFixture, type VerifierOptions } from '../../chain/verifierFixture.ts'
import {
  finalitySlots,
  first,
  moveWhileWaiting,
  openSettledVerifier,
  sendDirectly,
  type Signed,
  signPayment,
  verdictAbout,
} from './nodePayments.ts'

/*
 * Nodes of the service that lag, stand still, deny, lie or go down, while the payer's own node is well. No payer is
 * asked to pay again while the payment can land or has landed, and the same proof buys once the fault is over (I8).
 */

async function openVerifier(options: VerifierOptions): Promise<VerifierFixture> {
  const verifier = await openSettledVerifier(options)
  onTestFinished(() => verifier.close())
  return verifier
}

const payersNode: NodeBehaviour = {}
const healthy: NodeBehaviour = {}

test('fault 1a a transaction that we sent is pending while a node is behind it, and buys when it lands', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, { dropSends: true }] })
  const signed = await signPayment(verifier)
  const sent = await verdictAbout(verifier, signed, signed.header)
  verifier.chain.setNode(first, { lag: 120, dropSends: true })

  const retried = await verdictAbout(verifier, signed, signed.header)
  verifier.chain.setNode(first, healthy)
  await sendDirectly(verifier, signed)

  expect([sent, retried]).toEqual(['PAYMENT_PENDING', 'PAYMENT_PENDING'])
  expect(await verdictAbout(verifier, signed, signed.header)).toBe('accepted')
})

test('fault 1b a node that is behind the payer makes a fresh transaction wait, and never expire', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, healthy] })
  verifier.chain.setNode(first, { lag: 10 })
  const signed = await signPayment(verifier)

  const behind = await verdictAbout(verifier, signed, signed.header)
  verifier.chain.setNode(first, healthy)
  moveWhileWaiting(verifier)

  expect(behind).toBe('PAYMENT_PENDING')
  expect(await verdictAbout(verifier, signed, signed.header)).toBe('accepted')
})

test('fault 1b with a second node that is not behind, it is sent at once', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, healthy, healthy] })
  verifier.chain.setNode(first, { lag: 10 })
  const signed = await signPayment(verifier)
  moveWhileWaiting(verifier)

  expect(await verdictAbout(verifier, signed, signed.header)).toBe('accepted')
})

test('fault 1c where payments have to be final, a fresh blockhash is not an expired one', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, healthy], commitment: 'finalized' })
  const signed = await signPayment(verifier)

  const early = await verdictAbout(verifier, signed, signed.header)
  verifier.chain.advanceSlots(40)

  expect(early).toBe('PAYMENT_PENDING')
  expect(await verdictAbout(verifier, signed, signed.header)).toBe('accepted')
})

test('fault 1 an expiry is refused for good only after the finalized chain of every node has passed the bound', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, { dropSends: true }, { dropSends: true, lag: 45 }] })
  const signed = await signPayment(verifier)
  const { lastValidHeight } = verifier.nodes.landingBound()
  await verdictAbout(verifier, signed, signed.header)
  // Final on the first node up to 20 blocks above the bound, and on the second one up to 25 below it.
  verifier.chain.advanceSlots(lastValidHeight - verifier.nodes.height() + finalitySlots + 20)
  await verifier.nodes.poll()

  const behind = await verdictAbout(verifier, signed, signed.header)
  verifier.chain.advanceSlots(50)
  await verifier.nodes.poll()

  expect(behind).toBe('PAYMENT_PENDING')
  expect(await verdictAbout(verifier, signed, signed.header)).toBe('blockhash_expired')
})

test('fault 2 a payment that a frozen node cannot know is found by the second node', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, healthy, healthy] })
  const signed = await signPayment(verifier)
  verifier.chain.setNode(first, { freeze: true })

  await sendDirectly(verifier, signed)

  expect(await verdictAbout(verifier, signed, signed.signatureHeader)).toBe('accepted')
})

test('fault 3 a wallet whose payment the node cannot find yet has not "not paid"', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, { transactionLag: 60 }] })
  const signed = await signPayment(verifier, verifier.price.requiredBaseUnits)
  await sendDirectly(verifier, signed)

  const early = await verdictAbout(verifier, signed, signed.signatureHeader)
  verifier.chain.setNode(first, healthy)
  verifier.clock.advance(5_000)

  expect(early).toBe('not_found')
  expect(await verdictAbout(verifier, signed, signed.signatureHeader)).toBe('accepted')
})

test('fault 3 a wallet that is empty in the finalized state has too few tokens', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, healthy] })
  const signed = await signPayment(verifier, 1n)

  expect(await verdictAbout(verifier, signed, signed.signatureHeader)).toBe('INSUFFICIENT_BALANCE')
})

test('fault 4 above the quorum price a payment that only one of two nodes has is pending', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, healthy, { nullAnswers: true }], quorumAboveMicroUsd: 0n })
  const signed = await signPayment(verifier)
  await sendDirectly(verifier, signed)

  const alone = await verdictAbout(verifier, signed, signed.signatureHeader)
  verifier.chain.setNode(2, healthy)

  expect(alone).toBe('PAYMENT_PENDING')
  expect(await verdictAbout(verifier, signed, signed.signatureHeader)).toBe('accepted')
})

test('fault 4 above the quorum price a refusal, too, needs two nodes', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, { failRecords: true }, healthy], quorumAboveMicroUsd: 0n })
  const signed = await signPayment(verifier)
  await sendDirectly(verifier, signed)
  verifier.chain.advanceSlots(40)
  await verifier.nodes.poll()
  await expect(present(verifier, signed.payer, signed.signatureHeader)).rejects.toThrow('two nodes return different')

  verifier.chain.setNode(first, healthy)
  expect(await verdictAbout(verifier, signed, signed.signatureHeader)).toBe('accepted')
})

test('fault 7 a payment that was presented during an outage is not too old after it, in any process', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, healthy] })
  const signed = await signPayment(verifier)
  await sendDirectly(verifier, signed)
  verifier.chain.setNode(first, { fail: 'unavailable' })
  await expect(present(verifier, signed.payer, signed.signatureHeader)).rejects.toThrow(Fault)
  verifier.clock.advance(2 * proofMaxAgeMs)
  verifier.chain.setNode(first, healthy)
  verifier.chain.advanceSlots(2)
  await verifier.nodes.poll()

  const elsewhere = await present({ ...verifier, rail: verifier.openRail() }, signed.payer, signed.signatureHeader)

  expect(verdictOf(elsewhere)).toBe('accepted')
})

test('fault 7 a payment that no caller presented in time is too old after an outage', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, healthy] })
  const signed = await signPayment(verifier)
  await sendDirectly(verifier, signed)
  verifier.clock.advance(2 * proofMaxAgeMs)
  verifier.chain.advanceSlots(2)
  await verifier.nodes.poll()

  expect(await verdictAbout(verifier, signed, signed.signatureHeader)).toBe('too_old')
})

test('fault 7 a server clock that is 15 minutes ahead makes no payment too old', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, healthy], clockSkewMs: 15 * 60 * 1000 })
  const signed = await signPayment(verifier)
  await sendDirectly(verifier, signed)

  expect(await verdictAbout(verifier, signed, signed.signatureHeader)).toBe('accepted')
})

test('fault 17 sixteen payments that wait at the same time share the questions about them', async () => {
  const verifier = await openVerifier({ nodes: [payersNode, healthy] })
  const signed: Signed[] = []
  for (let count = 0; count < 16; count++) signed.push(await signPayment(verifier, undefined, 0))
  verifier.chain.advanceSlots(2)
  moveWhileWaiting(verifier)
  const node = assertPresent(verifier.chain.nodes[first], 'it is there')
  node.forgetRequestCounts()

  const verdicts = await Promise.all(signed.map((each) => verdictAbout(verifier, each, each.header)))

  expect(new Set(verdicts)).toEqual(new Set(['accepted']))
  const counts = node.requestCounts()
  expect(counts.get('getTransaction')).toBe(16)
  const shared = 12
  expect(counts.get('getSignatureStatuses')).toBeLessThanOrEqual(shared)
  expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(3 * 16 + shared)
})
