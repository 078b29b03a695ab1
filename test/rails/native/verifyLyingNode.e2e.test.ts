import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { present, type VerifierFixture } from '../../chain/verifierFixture.ts'
import { movingNothing, resultReply, type Tamper, tamperedRecord } from '../../chain/tamperingNode.ts'
import {
  finalitySlots,
  first as honest,
  moveWhileWaiting,
  openSettledVerifier,
  sendDirectly,
  signPayment,
  verdictAbout,
} from './nodePayments.ts'

/*
 * A service with two nodes, of which the first lies. A refusal makes a payer pay again, so no single node causes one,
 * at any price (I8); and the same proof buys as soon as the lie ends.
 */

/** The first node is a proxy that lies, the second one is honest. */
async function openWithLiar(): Promise<VerifierFixture> {
  const verifier = await openSettledVerifier({ nodes: [{}, {}], asksProxyFirst: true })
  onTestFinished(() => verifier.close())
  return verifier
}

const lies: readonly (readonly [string, Tamper])[] = [
  ['moved no tokens', tamperedRecord(movingNothing)],
  ['landed two hours ago', tamperedRecord(({ blockTime }) => ({ blockTime: blockTime - 7_200 }))],
  ['landed before every quote', tamperedRecord(() => ({ slot: 1 }))],
  [
    'failed',
    tamperedRecord((shown) => {
      const { meta } = movingNothing(shown)
      return { meta: { ...meta, err: { InstructionError: [0, { Custom: 1 }] } } }
    }),
  ],
]

describe.each(['signatureHeader', 'header'] as const)('a landed payment (%s)', (form) => {
  test.each(lies)('is pending while one of two nodes says that it %s, and buys right after', async (_, lie) => {
    const verifier = await openWithLiar()
    const signed = await signPayment(verifier)
    await sendDirectly(verifier, signed)
    verifier.chain.advanceSlots(finalitySlots)
    await verifier.nodes.poll()
    verifier.node.answer('getTransaction', lie)
    await expect(present(verifier, signed.payer, signed[form])).rejects.toThrow('two nodes return different')

    verifier.chain.setNode(honest, { fail: 'unavailable' })
    const alone = await verdictAbout(verifier, signed, signed[form])
    verifier.chain.setNode(honest, {})
    await verifier.nodes.poll()
    verifier.node.behave()

    expect(alone).toBe('PAYMENT_PENDING')
    expect(await verdictAbout(verifier, signed, signed[form])).toBe('accepted')
  })
})

const simulationAnswer = z.object({ result: z.object({ context: z.unknown(), value: z.looseObject({}) }) })

function rehearsing(lie: (value: Record<string, unknown>) => object): Tamper {
  return async ({ forward }) => {
    const { result } = simulationAnswer.parse(JSON.parse(await forward()))
    return resultReply({ ...result, value: { ...result.value, ...lie(result.value) } })
  }
}

describe.each([
  ['would fail', rehearsing(() => ({ err: { InstructionError: [0, { Custom: 3 }] } }))],
  ['would move no tokens', rehearsing(({ preTokenBalances }) => ({ postTokenBalances: preTokenBalances }))],
])('a transaction of which one of two nodes says that it %s', (_, lie) => {
  test('is sent when the other node says that it would pay', async () => {
    const verifier = await openWithLiar()
    const signed = await signPayment(verifier)
    moveWhileWaiting(verifier)
    verifier.node.answer('simulateTransaction', lie)

    expect(await verdictAbout(verifier, signed, signed.header)).toBe('accepted')
  })

  test('is pending while the other node does not answer', async () => {
    const verifier = await openWithLiar()
    const signed = await signPayment(verifier)
    verifier.node.answer('simulateTransaction', lie)
    verifier.chain.setNode(honest, { fail: 'unavailable', only: ['simulateTransaction'] })

    expect(await verdictAbout(verifier, signed, signed.header)).toBe('PAYMENT_PENDING')
  })
})

test('a wallet is not empty because one of two nodes hides its payment and its tokens', async () => {
  const verifier = await openWithLiar()
  const signed = await signPayment(verifier)
  await sendDirectly(verifier, signed)
  const inSlot = (slotsAhead: number) => ({ context: { slot: verifier.nodes.newestSlot() + slotsAhead } })
  verifier.node.answer('getTransaction', () => resultReply(null))
  verifier.node.answer('getTokenAccountsByOwner', () => resultReply({ ...inSlot(10), value: [] }))
  verifier.node.answer('getSignatureStatuses', () => resultReply({ ...inSlot(20), value: [null] }))
  verifier.chain.setNode(honest, { fail: 'unavailable', only: ['getTokenAccountsByOwner', 'getSignatureStatuses'] })

  expect(await verdictAbout(verifier, signed, signed.signatureHeader)).toBe('not_found')
})

test('a payment that buys is asked of one node', async () => {
  const verifier = await openWithLiar()
  const signed = await signPayment(verifier)
  await sendDirectly(verifier, signed)
  const other = assertPresent(verifier.chain.nodes[honest], 'it is there')
  other.forgetRequestCounts()
  verifier.node.behave()

  expect(await verdictAbout(verifier, signed, signed.signatureHeader)).toBe('accepted')
  expect([verifier.node.asked, other.requestCounts().size]).toEqual([['getTransaction'], 0])
})
