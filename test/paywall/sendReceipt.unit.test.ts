import { expect, test } from 'vitest'
import { createReceiptSigner, sendReceipt, type SignerDeps } from '../../src/paywall/sendReceipt.ts'
import { storeRaw } from '../../src/paywall/rawFormat.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { mint, order, otherWallet, referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { sampleReceipt } from './sampleReceipt.ts'
import { scriptedRail } from './scriptedRail.ts'

const settlement = settlementOf(referenceNumber(1), { priceList: 4 })
const delivered = { attemptId: 'attempt_1', position: 7, leafHash: 'ab'.repeat(32), recordedAtMs: 1_000 }
const fulfilment = { settlement, endpoint: order.endpoint, ...delivered }
const signJws = (payload: unknown, head: object) => JSON.stringify([payload, head])

function signerWith(deps: Partial<SignerDeps>) {
  const splitsOf = async () => undefined
  return createReceiptSigner(signJws, { isAccepted: () => true, nowMs: () => 5_000, splitsOf, ...deps })
}

test('a receipt is signed as one, with exactly the members that are sent', async () => {
  const { jws, ...receipt } = await signerWith({})(fulfilment)
  expect(JSON.parse(jws)).toEqual([receipt, { typ: 'tollbook-receipt' }])
  expect(receipt).not.toHaveProperty('reissuedAt')
})

test('a receipt of a time that the key does not cover states the time of its reissue', async () => {
  const accepted: number[] = []
  const isAccepted = (atMs: number) => {
    accepted.push(atMs)
    return atMs >= 2_000
  }
  const receipt = await signerWith({ isAccepted })(fulfilment)
  expect(receipt).toMatchObject({ issuedAt: '1970-01-01T00:00:01.000Z', reissuedAt: '1970-01-01T00:00:05.000Z' })
  expect(accepted).toEqual([1_000, 5_000])
})

test.each([
  ['no key is accepted now', { isAccepted: () => false }],
  ['the clock is behind the delivery', { isAccepted: (atMs: number) => atMs < 1_000, nowMs: () => 999 }],
])('nothing is signed while %s, and the caller may repeat', async (_, deps) => {
  await expect(signerWith(deps)(fulfilment)).rejects.toMatchObject({ retryable: true })
})

test('the split of the receipt is that of the list of its price, and of its dollar if that has another', async () => {
  const ofDollar = [{ account: 'provider', perMille: 1_000 }]
  const others = [{ mint: otherWallet, split: [{ account: 'holders', perMille: 1_000 }] }]
  const splitsOf = async (list: number) =>
    list === 4 ? { split: defaultSplit, dollarSplits: [...others, { mint, split: ofDollar }] } : undefined
  const sign = signerWith({ splitsOf })
  const inDollars = { ...settlement.price, burnBaseUnits: 0n, shares: [{ account: 'provider', baseUnits: 5_000_000n }] }
  const paid = { price: inDollars, burnedBaseUnits: 0n, receivedBaseUnits: inDollars.requiredBaseUnits, priceList: 4 }
  const dollars = await sign({ ...fulfilment, settlement: { ...settlement, ...paid } })
  expect(dollars).toMatchObject({ priceList: 4, currency: { mint, split: { provider: '100%' } } })
  const { priceList: _list, ...unlisted } = settlement
  expect(await sign({ ...fulfilment, settlement: unlisted })).not.toHaveProperty('split')
})

const meta = { source: 'kraken', asOf: '2026-11-22T00:00:00.000Z', cached: false }

async function sent(answerJson: string, replayed = false) {
  const marked: object[] = []
  const deps = {
    signReceipt: async () => sampleReceipt(),
    rail: { ...scriptedRail('toll'), respond: () => ({ 'toll-receipt': 'x' }) },
    ledger: { markSent: (answer: object) => void marked.push(answer) },
  }
  const answer = await sendReceipt(deps, { answerJson, fulfilment, replayed })
  return { ...answer, marked }
}

test('an answer has its receipt in front of the recorded text, and the headers of its rail', async () => {
  const { body, headers, dispatch, marked } = await sent(`{"data":{"a":1},"meta":${JSON.stringify(meta)}}`)
  const receipt = sampleReceipt()
  expect(JSON.parse(body.toString())).toEqual({
    success: true,
    receipt,
    inclusionProof: '/api/ledger/inclusion/7',
    data: { a: 1 },
    meta,
  })
  expect(headers).toMatchObject({ 'toll-receipt': 'x', 'cache-control': 'private, no-store' })
  expect(headers).not.toHaveProperty('idempotent-replay')
  expect(dispatch).toMatchObject({ wallet: settlement.wallet, position: 7, isReplay: false })
  expect(marked).toEqual([])
  dispatch?.markSent()
  expect(marked).toEqual([{ reference: settlement.reference, isBound: false }])
})

test('a repeated answer is marked, in an envelope and without one', async () => {
  const raw = storeRaw({ contentType: 'text/plain', meta }, Buffer.from('word'))
  for (const answerJson of [`{"data":{},"meta":${JSON.stringify(meta)}}`, raw]) {
    const { headers, dispatch } = await sent(answerJson, true)
    expect([headers['idempotent-replay'], dispatch?.isReplay]).toEqual(['true', true])
  }
})

test.each([
  ['sample:local', {}, 'true'],
  ['kraken', { article: { source: 'sample:fake', meta: { source: 'sample:fake' } } }, undefined],
])('an answer from %s with the data %j is marked as a sample: %s', async (source, data, expected) => {
  const { headers } = await sent(JSON.stringify({ data, meta: { ...meta, source } }))
  expect(headers['x-sample-data']).toBe(expected)
})
