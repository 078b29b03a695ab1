import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Clock } from '@tollbook/core/clock'
import { createConfirmationLoop } from '../../src/chain/confirmationLoop.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { postJson } from '../../src/outbound/postJson.ts'
import { silentLog } from '../../src/machine/log.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { type ChainFixture, land, newCustomer, openChainFixture, signatureOf } from './chainFixture.ts'
import { payment } from './fixtureTokens.ts'

let fixture: ChainFixture

beforeAll(async () => {
  fixture = await openChainFixture('SPL Token')
})
afterAll(() => fixture.chain.close())

test('a proof of a stranger that is looked for later does not delay a payment that was just sent', async () => {
  const { alarms, nodes, watch, slowNode } = await openLoop()
  const invented = watch(encodeBase58(randomBytes(64)), false)
  await awaitThat('the loop waits for the proof of the stranger', alarms.isSet)
  const paid = watch(await landPayment(), true)
  await passUntil(alarms, paid, nodes.slotMs())
  expect(await paid).toMatchObject({ kind: 'landed' })
  slowNode.answer()
  await passUntil(alarms, invented)
  expect(await invented).toMatchObject({ kind: 'unseen' })
})

test.each([
  ['the proof of a stranger', false],
  ['a payment that has not landed', true],
])('a node that answers late about %s does not delay a payment that another node has', async (_, isExpected) => {
  const { alarms, watch, slowNode } = await openLoop()
  const other = watch(encodeBase58(randomBytes(64)), isExpected)
  await passUntil(alarms, slowNode.isAsked)
  const paid = watch(await landPayment(), true)
  await passUntil(alarms, paid)
  expect(await paid).toMatchObject({ kind: 'landed' })
  slowNode.answer()
  await passUntil(alarms, other)
  expect(await other).toMatchObject({ kind: 'unseen' })
})

/** A loop over two nodes of one chain. The second node delays its statuses until the test releases them. */
async function openLoop() {
  const alarms = alarmClock()
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slowUrl = `${fixture.chain.rpcUrl}/?slow`
  const { nodes } = await openChain({
    rpcUrls: [fixture.chain.rpcUrl, slowUrl],
    tokenMint: fixture.terms.mint,
    paymentWallet: fixture.terms.paymentWallet,
    commitment: 'confirmed',
    async postJson(url, body, options) {
      if (url === slowUrl && body.includes('getSignatureStatuses')) {
        asked.resolve()
        await answered.promise
      }
      return postJson(url, body, options)
    },
    log: silentLog,
  })
  const loop = createConfirmationLoop({ nodes, log: silentLog, clock: alarms.clock })
  const watch = (text: string, isExpected: boolean) =>
    loop.watch({ signature: signatureOf(text), waitMs: 10_000, commitment: 'confirmed', isExpected })
  onTestFinished(() => answered.resolve())
  return { alarms, nodes, watch, slowNode: { isAsked: asked.promise, answer: answered.resolve } }
}

async function landPayment(): Promise<string> {
  const payer = await newCustomer(fixture)
  return land(fixture, payment(fixture, payer), [payer.keypair])
}

/** Time that passes when the test rings the next alarm. */
function alarmClock() {
  let nowMs = 0
  const alarms = new Set<{ readonly atMs: number; readonly wake: () => void }>()
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (durationMs) => new Promise((wake) => alarms.add({ atMs: nowMs + durationMs, wake })),
  }
  return {
    clock,
    isSet: () => alarms.size > 0,
    /** Rings the next alarm, unless it is set to a later time than this. */
    ring(untilMs: number) {
      const nextMs = Math.min(...[...alarms].map(({ atMs }) => atMs))
      if (nextMs > untilMs) return
      nowMs = nextMs
      for (const alarm of alarms) {
        if (alarm.atMs > nowMs) continue
        alarms.delete(alarm)
        alarm.wake()
      }
    },
  }
}

/** Lets time pass until something is settled, to this time at most. */
async function passUntil(
  { ring }: ReturnType<typeof alarmClock>,
  settling: Promise<unknown>,
  untilMs = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  let isSettled = false
  void settling.finally(() => (isSettled = true))
  await awaitThat('it is settled', () => {
    if (!isSettled) ring(untilMs)
    return isSettled
  })
}
