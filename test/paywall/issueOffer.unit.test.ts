import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { formatDecimal } from '@tollbook/core/money'
import { isRefusal } from '@tollbook/core/refusal'
import { issueOffer } from '../../src/paywall/issueOffer.ts'
import type { PaymentRail } from '../../src/paywall/rail.ts'
import { referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { requestOf } from './requestOf.ts'
import { challengeOf, scriptedRail } from './scriptedRail.ts'

const price = { ...settlementOf(referenceNumber(1)).price, priceList: 1 }

const token = { symbol: 'TOLL', sourceUrl: 'https://exchange.example/toll' }

function offerOn(...rails: readonly PaymentRail[]) {
  const product = { path: price.endpoint, method: 'GET' } as const
  const question = { request: requestOf(), product, payer: undefined, price }
  return issueOffer({ clock: systemClock, rails, quoteTtlMs: 1_000, token }, question)
}

// The price of the story, in tokens.
const priceText = formatDecimal(price.requiredBaseUnits, price.decimals)

test('every rail adds its members, its words, and its part of a header that is a list', async () => {
  const offer = await offerOn(scriptedRail('first'), scriptedRail('second'))
  if (isRefusal(offer)) throw new Error(offer.message)
  expect(offer.headers['www-authenticate']).toBe('first x="1", second x="1"')
  expect(JSON.parse(offer.body)).toMatchObject({
    error: `payment required: ${priceText} TOLL (mint ${price.mint}, available at https://exchange.example/toll); pay by first; or pay by second`,
    code: 'PAYMENT_REQUIRED',
    pricing: { endpoint: price.endpoint },
    first: 1,
    second: 1,
  })
})

test('a rail that cannot offer anything to this caller is left out', async () => {
  const silent: PaymentRail = { ...scriptedRail('silent'), challenge: () => Promise.resolve(undefined) }
  const offer = await offerOn(silent, scriptedRail('second'))
  expect(offer).toMatchObject({ status: 402, headers: { 'www-authenticate': 'second x="1"' } })
})

test('without any challenge the product is not sold, and that is not a 402', async () => {
  expect(await offerOn()).toMatchObject({ code: 'ENDPOINT_UNAVAILABLE' })
})

test.each(['pricing', 'first'])('two writers of the member %s are a bug', async (member) => {
  const clash = { ...challengeOf('second'), members: { [member]: 2 } }
  await expect(offerOn(scriptedRail('first'), scriptedRail('second', clash))).rejects.toThrow('same member')
})

test('the first rail that the request marks counts, and for a tool every marked rail', async () => {
  const marks: (readonly string[] | undefined)[] = []
  const described = (name: string): PaymentRail => ({
    ...scriptedRail(name),
    description: { protocol: name, request: '' },
    async challenge(offer) {
      marks.push(offer.markedBy)
      return challengeOf(name)
    },
  })
  const rails = [scriptedRail('native'), described('first'), described('second'), described('third')]
  const headers = { native: 'x', second: 'x', third: 'x' }
  const product = { path: price.endpoint, method: 'GET' } as const
  const deps = { clock: systemClock, rails, quoteTtlMs: 1_000, token }
  const tool = { name: 'qrcode', path: '/mcp' }
  for (const request of [requestOf({ headers }), { ...requestOf({ headers }), tool }])
    await issueOffer(deps, { request, product, payer: undefined, price })
  expect([marks[0], marks.at(-1)]).toEqual([['second'], ['second', 'third']])
})
