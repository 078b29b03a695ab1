import { expect, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import { findReplay } from '../../src/paywall/replay.ts'
import { scriptedRail } from '../paywall/scriptedRail.ts'
import { createTestDatabase } from '../support/database.ts'
import { mustAppend, openInstance } from './instance.ts'
import { claimOf, fulfilmentOf, sampleSettlement } from './samplePayment.ts'

const { serviceUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const key = 'a-key-of-two-callers'
const digest = 'ab'.repeat(32)

/** A served payment whose answer is stored under the key. */
async function serve() {
  const settlement = sampleSettlement()
  const claim = claimOf(settlement, { idempotencyKey: key })
  const { after } = await mustAppend(ledger, claim.change)
  const { wallet } = settlement
  const fulfilled = fulfilmentOf(settlement, {
    before: after,
    attemptId: claim.attemptId,
    idempotency: { wallet, key, orderDigest: digest },
    answerJson: `{"data":"${wallet}","meta":{}}`,
  })
  await mustAppend(ledger, fulfilled)
  return settlement
}

const lookUp = ({ reference, wallet }: ReturnType<typeof sampleSettlement>) =>
  ledger.payments.lookUp({ reference, wallet, idempotencyKey: key, orderDigest: digest })

test('two wallets use the same key, and each gets its own answer (I6)', async () => {
  const [one, other] = [await serve(), await serve()]
  for (const settlement of [one, other]) {
    const { earlier } = await lookUp(settlement)
    expect(earlier?.reference).toBe(settlement.reference)
    expect(earlier?.answer?.answerJson).toContain(settlement.wallet)
  }
  const stranger = await lookUp(sampleSettlement())
  expect(stranger.earlier).toBeUndefined()
})

test('a key that is used for one served payment is refused for another of the same wallet (I6)', async () => {
  const served = await serve()
  const { wallet, price } = served
  const second = sampleSettlement({ wallet })
  await mustAppend(ledger, claimOf(second).change)
  const known = await lookUp(second)
  const held = {
    rail: scriptedRail('test'),
    proof: { reference: second.reference },
    order: { wallet, endpoint: price.endpoint, digest },
  }
  const replay = findReplay(known, held)
  expect(isRefusal(replay) && replay.code).toBe('IDEMPOTENCY_KEY_REUSED')
})
