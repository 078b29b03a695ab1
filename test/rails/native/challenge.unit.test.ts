import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import type { Quote } from '@tollbook/core/quote'
import { isRefusal } from '@tollbook/core/refusal'
import { quoteBody } from '@tollbook/core/wire'
import { challenge, type QuoteDeps } from '../../../src/rails/native/challenge.ts'
import { issueOffer } from '../../../src/paywall/issueOffer.ts'
import { defaultSplit } from '../../../src/pricing/splitSetting.ts'
import { mint, otherWallet, referenceNumber, settlementOf, wallet, terms } from '../../payment/paymentStory.ts'
import { requestOf } from '../../paywall/requestOf.ts'
import { scriptedRail } from '../../paywall/scriptedRail.ts'

const price = { ...settlementOf(referenceNumber(1)).price, priceList: 1 }
const recorded: Quote[] = []
const token = { symbol: 'TOLL', sourceUrl: 'https://exchange.example/toll' }
const deps: QuoteDeps = {
  ledger: { recordQuote: (quote) => Promise.resolve(void recorded.push(quote)) },
  terms,
  split: defaultSplit,
  token,
  slot: () => 7,
}
const rail = { ...scriptedRail('native'), challenge: challenge.bind(undefined, deps) }
const product = { path: price.endpoint, method: 'POST' } as const
const offerDeps = { clock: systemClock, rails: [rail], quoteTtlMs: 300_000, token }

test('the 402 of the native rail alone is the body of the interface, byte for byte', async () => {
  const offer = await issueOffer(offerDeps, { request: requestOf(), product, payer: wallet, price })
  if (isRefusal(offer)) throw new Error(offer.message)
  const { quote } = quoteBody.parse(JSON.parse(offer.body))
  const { id, expiresAt, memo, secret } = quote
  const amounts = { requiredBaseUnits: '5000000', burnBaseUnits: '1500000', transferBaseUnits: '3500000' }
  expect(offer.body).toBe(
    JSON.stringify({
      error: `payment required: 5 TOLL (mint ${price.mint}, available at https://exchange.example/toll); burn 1500000 and transfer 3500000 base units of the token, then repeat the request with x-payment-proof`,
      code: 'PAYMENT_REQUIRED',
      pricing: { endpoint: '/api/tools/qrcode', priceUSD: 0.005, tokenPrice: 0.001, requiredTokens: 5 },
      distribution: { burn: '30%', provider: '50%', holders: '15%', treasury: '5%' },
      burnInfo: { percentage: 30, tokensToBurn: 1.5 },
      paymentWallet: otherWallet,
      tokenMint: mint,
      tokenSymbol: 'TOLL',
      tokenSourceUrl: 'https://exchange.example/toll',
      tokenProgram: mint,
      paymentTokenAccount: otherWallet,
      network: 'solana:test',
      quote: { id, expiresAt, ...amounts, decimals: 6, memo, secret, priceList: 1 },
    }),
  )
  expect(offer.headers).toEqual({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  })
  expect(recorded.at(-1)).toMatchObject({ id, wallet, slot: 7, memo })
  expect(recorded.at(-1)).not.toHaveProperty('secret')
})

test('a caller without a wallet gets no quote of this rail, and none is recorded', async () => {
  const before = recorded.length
  expect(await issueOffer(offerDeps, { request: requestOf(), product, payer: undefined, price })).toMatchObject({
    code: 'ENDPOINT_UNAVAILABLE',
  })
  expect(recorded).toHaveLength(before)
})
