import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Price, Quote } from '@tollbook/core/quote'
import { type QuoteBody, saleBody } from '@tollbook/core/wire'
import { ask, askForQuote, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { openMarketServers } from '../support/marketServers.ts'
import { shiftedClock } from '../support/shiftedClock.ts'
import { openTestService, type TestService } from '../support/testService.ts'

const clock = shiftedClock()
const markets = await openMarketServers('0.001')
/** Each quote, with the price that was on record when it was made. */
const quoted: { readonly quote: Quote; readonly listed: Price | undefined }[] = []
let service: TestService
let firstQuote: QuoteBody

beforeAll(async () => {
  service = await openTestService({
    clock,
    // The test moves the service's clock; the clock of the database moves with it, and blocks keep their real time.
    env: markets.env,
    seams: {
      nodes: { clockSkewMaxMs: 3_600_000 },
      readDatabaseClockMs: () => Promise.resolve(clock.nowMs()),
      ledger: (inner) => ({
        ...inner,
        async recordQuote(quote) {
          quoted.push({ quote, listed: await inner.findPrice(quote.endpoint, clock.nowMs()) })
          await inner.recordQuote(quote)
        },
      }),
    },
  })
})

async function askedFree(path: string) {
  return ask(service, { path })
}

/** Advances time by less than the outage threshold of the chain's health, and lets the chain answer again. */
async function pass(durationMs: number): Promise<void> {
  clock.advance(durationMs)
  await awaitThat('the chain is heard', async () => {
    const { checks } = health.parse((await askedFree('/api/health')).body).data
    return checks['chain']?.status === 'ok'
  })
}

const health = z.object({
  data: z.object({ checks: z.record(z.string(), z.object({ status: z.string(), problem: z.string().optional() })) }),
})

/** Lets the next poll come, and waits until its consequence shows. */
async function untilPolled(what: string, isSo: () => Promise<boolean>): Promise<void> {
  await pass(15_000)
  await awaitThat(what, isSo)
}

test('quotes are at the price that the markets agree on', async () => {
  firstQuote = await askForQuote(service)
  expect(firstQuote.pricing).toMatchObject({ tokenPrice: 0.001, requiredTokens: 5 })
  const price = await askedFree('/api/token/price')
  expect(price.body).toMatchObject({
    success: true,
    data: {
      priceUSD: 0.001,
      source: 'market',
      mint: firstQuote.tokenMint,
      decimals: 6,
      sources: [{ source: 'jupiter' }, { source: 'dexscreener' }, { source: 'geckoterminal' }],
    },
  })
  expect(health.parse((await askedFree('/api/health')).body).data.checks['price']).toEqual({ status: 'ok' })
})

test('a new price is on record before the first quote at it', async () => {
  markets.sayAll('0.0009')
  await untilPolled('a quote at the new price', async () => (await askForQuote(service)).pricing.tokenPrice === 0.0009)
  // A quote that is made while the list is being written may still have the old price, which is on record too.
  const firsts = [1_000_000_000_000_000n, 900_000_000_000_000n].map((price) =>
    quoted.find(({ quote }) => quote.tokenPriceAttoUsd === price),
  )
  expect(firsts.map((first) => first?.listed?.tokenPriceAttoUsd)).toEqual([
    1_000_000_000_000_000n,
    900_000_000_000_000n,
  ])
  expect(new Set(quoted.map(({ quote }) => quote.tokenPriceAttoUsd)).size).toBe(2)
})

test('a quote from before the change is honoured at its own price', async () => {
  const proof = await service.payer.pay(firstQuote, 'boundSignature')
  const sale = await ask(service, { ...qrOrder, proof })
  expect(sale.status).toBe(200)
  expect(saleBody.parse(sale.body).receipt).toMatchObject({
    quoteId: firstQuote.quote.id,
    requiredBaseUnits: '5000000',
  })
})

test('when the markets part, the last price holds to its age; then nothing is quoted, and who has paid is served', async () => {
  const held = await askForQuote(service)
  expect(held.pricing.tokenPrice).toBe(0.0009)
  markets.say('jupiter', { price: '0.0012' })
  markets.say('dexscreener', { price: '0.0009', liquidity: 311.2 })
  await pass(15_000)
  expect((await askForQuote(service)).pricing.tokenPrice).toBe(0.0009)

  for (let passedMs = 15_000; passedMs <= 300_000; passedMs += 16_000) await pass(16_000)
  const refused = await ask(service, qrOrder)
  expect(refused.status).toBe(503)
  expect(refused.body).toMatchObject({
    code: 'ENDPOINT_UNAVAILABLE',
    error: expect.stringContaining('no current price'),
  })
  const ill = await askedFree('/api/health')
  expect(ill.status).toBe(503)
  expect(health.parse(ill.body).data.checks['price']).toEqual({
    status: 'failing',
    problem: expect.stringContaining('away from their median'),
  })
  expect((await askedFree('/api/token/price')).status).toBe(503)
  expect((await askedFree('/readyz')).status, 'who has paid must find us').toBe(200)

  const proof = await service.payer.pay(held)
  expect((await ask(service, { ...qrOrder, proof })).status).toBe(200)
})

test('and when they agree again, it is quoted again', async () => {
  markets.sayAll('0.0009')
  await untilPolled('a quote', async () => (await ask(service, qrOrder)).status === 402)
  // Of this check only: to the moved clock, a payment of the test before has been waiting for finality for minutes.
  expect(health.parse((await askedFree('/api/health')).body).data.checks['price']).toEqual({ status: 'ok' })
})

test('another instance quotes from the list on record', async () => {
  const other = await openTestService({ besides: service, env: markets.env })
  expect((await askForQuote(other)).pricing).toEqual((await askForQuote(service)).pricing)
})

test('a service that starts while the markets part sells nothing yet, and says why', async () => {
  markets.say('jupiter', { price: '0.0012' })
  markets.say('dexscreener', { status: 404, body: '{}' })
  const other = await openTestService({ besides: service, env: markets.env })
  expect((await ask(other, qrOrder)).status).toBe(503)
  expect((await ask(other, { path: '/api/token/price' })).status).toBe(503)
  expect(health.parse((await ask(other, { path: '/api/health' })).body).data.checks['price']?.problem).toEqual(
    expect.stringContaining('dexscreener: not_found'),
  )
})
