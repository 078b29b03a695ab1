import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Clock } from '@tollbook/core/clock'
import { createConfirmationLoop } from '../../src/chain/confirmationLoop.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { postJson } from '../../src/outbound/postJson.ts'
import { silentLog } from '../../src/primitives/log.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { land, newCustomer, openChainFixture, signatureOf } from './chainFixture.ts'
import { payment } from './fixtureTokens.ts'

test('a proof of a stranger that is looked for later does not delay a payment that was just sent', async () => {
  const fixture = await openChainFixture('SPL Token')
  onTestFinished(() => fixture.chain.close())
  const alarms = alarmClock()
  const { clock } = alarms
  const { nodes } = await openChain({
    rpcUrls: [fixture.chain.rpcUrl],
    tokenMint: fixture.terms.mint,
    paymentWallet: fixture.terms.paymentWallet,
    commitment: 'confirmed',
    postJson,
    log: silentLog,
  })
  const loop = createConfirmationLoop({ nodes, log: silentLog, clock })
  const watch = (text: string, isExpected: boolean) =>
    loop.watch({ signature: signatureOf(text), waitMs: 10_000, commitment: 'confirmed', isExpected })
  const invented = watch(encodeBase58(randomBytes(64)), false)
  await awaitThat('the loop waits for the proof of the stranger', alarms.isSet)
  const payer = await newCustomer(fixture)
  const paid = watch(await land(fixture, payment(fixture, payer), [payer.keypair]), true)
  await passUntil(alarms, paid)
  expect(await paid).toMatchObject({ kind: 'landed' })
  expect(clock.monotonicMs()).toBeLessThanOrEqual(nodes.slotMs())
  await passUntil(alarms, invented)
  expect(await invented).toMatchObject({ kind: 'unseen' })
})

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
    ring() {
      nowMs = Math.min(...[...alarms].map(({ atMs }) => atMs))
      for (const alarm of alarms) {
        if (alarm.atMs > nowMs) continue
        alarms.delete(alarm)
        alarm.wake()
      }
    },
  }
}

async function passUntil({ isSet, ring }: ReturnType<typeof alarmClock>, settling: Promise<unknown>): Promise<void> {
  let isSettled = false
  void settling.finally(() => (isSettled = true))
  await awaitThat('it is settled', () => {
    if (!isSettled && isSet()) ring()
    return isSettled
  })
}
