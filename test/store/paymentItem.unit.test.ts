import { expect, test } from 'vitest'
import { evolveAll, unknownPayment } from '../../src/payment/payment.ts'
import { messageReference } from '../../src/payment/paymentReference.ts'
import { paymentItem, sponsoredOrderPrefix } from '../../src/store/paymentItem.ts'
import { claimOf, fulfilmentOf, sampleAddress, sampleSettlement } from './samplePayment.ts'

const day = 24 * 60 * 60

test('a sponsored payment is found by its message for 30 days, and by its order for one', () => {
  const settlement = sampleSettlement()
  const { wallet } = settlement
  const [digest, orderDigest] = ['ab'.repeat(32), 'cd'.repeat(32)]
  const { change } = claimOf(settlement)
  const { keys } = paymentItem({ ...change, sponsored: { message: messageReference(digest), wallet, orderDigest } })
  const key = Buffer.from(digest, 'hex')
  const ofOrder = sponsoredOrderPrefix({ wallet, orderDigest })
  expect(keys).toEqual([
    { space: 12, key, lifetimeSeconds: 30 * day },
    { space: 13, key: Buffer.concat([ofOrder, key]), lifetimeSeconds: day },
  ])
  expect(sponsoredOrderPrefix({ wallet: sampleAddress(), orderDigest })).not.toEqual(ofOrder)
})

test('a payment and its burn take effect at the time of the block, and all other events when they are recorded', () => {
  const settlement = sampleSettlement()
  const { blockTimeMs } = settlement.evidence
  const nowMs = blockTimeMs + 60_000
  const { change, attemptId } = claimOf(settlement, { nowMs })
  const timesOf = ({ events }: ReturnType<typeof paymentItem>) => events.map(({ effectiveAtMs }) => effectiveAtMs)
  expect(timesOf(paymentItem(change))).toEqual([blockTimeMs, blockTimeMs, nowMs])
  const before = evolveAll(unknownPayment, change.events, nowMs)
  const fulfilled = { ...fulfilmentOf(settlement, { before, attemptId }), nowMs: nowMs + 1 }
  expect(timesOf(paymentItem(fulfilled))).toEqual([nowMs + 1, nowMs + 1])
})
