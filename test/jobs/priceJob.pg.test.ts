import { expect, onTestFinished, test } from 'vitest'
import { openPrices } from '../../src/start/products/openPrices.ts'
import type { Prices } from '../../src/start/products/prices.ts'
import { readConfig } from '../../src/config.ts'
import { products } from '../support/builtinProducts.ts'
import { createMetrics } from '../../src/transport/metrics.ts'
import { openUpstreams } from '../../src/start/upstreams/openUpstreams.ts'
import { ledgerCodec } from '../../src/payment/events.ts'
import type { PriceListPublished } from '../../src/payment/events/settingEvents.ts'
import type { PaymentTerms } from '../../src/payment/settlement.ts'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { type Ledger, openLedger } from '../../src/store/openLedger.ts'
import { mint, otherWallet, terms } from '../payment/paymentStory.ts'
import { createTestDatabase } from '../support/database.ts'
import { type MarketServers, openMarketServers } from '../support/marketServers.ts'
import { type SteppedClock, steppedClock } from '../support/steppedClock.ts'
import { openSessions } from '../store/instance.ts'

const qrcode = '/api/tools/qrcode'

interface Stall {
  readonly clock: SteppedClock
  readonly markets: MarketServers
  readonly ledger: Ledger
  /** An instance that goes by these markets, or by others. */
  open(options?: {
    env?: Readonly<Record<string, string>>
    clock?: SteppedClock
    terms?: PaymentTerms
    earlier?: Prices
  }): Promise<Prices>
  /** The lists on record, oldest first. */
  lists(): Promise<readonly PriceListPublished[]>
}

// A price is good for 300 s, and the markets are polled every 15 s.
const pollsOfAge = 20

/** A separate ledger, three markets, and a clock that the test advances. */
async function openStall(price = '0.001'): Promise<Stall> {
  const { serviceUrl } = await createTestDatabase()
  const [clock, markets] = [steppedClock(), await openMarketServers(price)]
  // Appends of instances that overlap keep a distance, which no test has to advance.
  const ledgerClock = { ...clock, sleep: systemClock.sleep }
  const ledger = await openLedger({
    databaseUrl: serviceUrl,
    applicationName: 'price job',
    clock: ledgerClock,
    log: silentLog,
  })
  onTestFinished(() => ledger.close())
  const sessions = openSessions(serviceUrl, 1)
  return {
    clock,
    markets,
    ledger,
    async open({ env = {}, terms: ownTerms = terms, earlier } = {}) {
      const config = readConfig({ ...markets.env, ...env })
      const dollars = config.currencies.accepted.map((dollar) => {
        return { ...dollar, terms: { ...terms, mint: otherWallet } }
      })
      const deps = {
        clock,
        log: silentLog,
        metrics: createMetrics(),
      }
      const prices = await openPrices(config.prices, {
        ...deps,
        upstreams: openUpstreams(config.providers, deps),
        sold: products,
        split: config.catalog.split,
        dollars,
        terms: ownTerms,
        earlier,
        priceLists: ledger.priceLists,
      })
      onTestFinished(() => prices.close())
      return prices
    },
    async lists() {
      const { rows } = await sessions.query<{ body: Buffer }>(
        "select body from ledger.settings where name = 'prices' order by number",
      )
      return rows.map(({ body }) => {
        const { event } = ledgerCodec.decode(body.toString('utf8'))
        assert(event.kind === 'PriceListPublished', 'a price list holds a price list')
        return event
      })
    },
  }
}

function problemOf(prices: Prices): string | undefined {
  return prices.checks[0]?.problem()
}

function requiredOf(prices: Prices): bigint | undefined {
  return prices.currentPrice(qrcode)?.requiredBaseUnits
}

test('a price that the markets agree on is on record with what each of them said, and quoted', async () => {
  const { markets, open, lists, clock } = await openStall()
  markets.say('geckoterminal', { price: '0.00102', liquidity: null })
  markets.say('dexscreener', { status: 403, body: '' })
  const prices = await open()

  expect(requiredOf(prices)).toBe(4_950_496n)
  expect(problemOf(prices)).toBeUndefined()
  const [list, ...more] = await lists()
  expect(more).toEqual([])
  expect(list).toMatchObject({ source: 'market' })
  const listed = list?.prices.find(({ endpoint }) => endpoint === qrcode)
  expect(prices.currentPrice(qrcode)).toEqual({ ...listed, priceList: 1 })
  expect(list?.evidence).toEqual({
    agreedAtMs: clock.nowMs(),
    tokenPriceAttoUsd: 1_010_000_000_000_000n,
    readings: [
      { source: 'jupiter', tokenPriceAttoUsd: 1_000_000_000_000_000n, liquidityUsd: 50_000n },
      { source: 'geckoterminal', tokenPriceAttoUsd: 1_020_000_000_000_000n, liquidityUsd: undefined },
    ],
    silent: [{ source: 'dexscreener', why: 'blocked' }],
  })
  expect(prices.tokenPrice()).toEqual({
    priceUSD: 0.00101,
    source: 'market',
    asOf: new Date(clock.nowMs()).toISOString(),
    mint,
    decimals: 6,
    sources: [
      { source: 'jupiter', priceUSD: 0.001, liquidityUSD: 50_000 },
      { source: 'geckoterminal', priceUSD: 0.00102, liquidityUSD: null },
    ],
  })
})

test('without an agreement it starts without a price, says why, and opens at the first agreement', async () => {
  const { markets, open, lists, clock } = await openStall()
  markets.say('jupiter', { price: '0.002' })
  markets.say('geckoterminal', { status: 200, body: '<html>' })
  const prices = await open()
  expect(requiredOf(prices)).toBeUndefined()
  expect(prices.tokenPrice()).toBeUndefined()
  expect(problemOf(prices)).toBe(
    'the markets are more than 2 % away from their median (jupiter: 0.002 USD, liquidity 50000, dexscreener: 0.001 USD, liquidity 50000, geckoterminal: bad_payload)',
  )
  expect(await lists()).toEqual([])

  markets.say('jupiter', { price: '0.001' })
  await clock.step()
  expect(requiredOf(prices)).toBe(5_000_000n)
  expect(problemOf(prices)).toBeUndefined()
})

test('when the markets part, the last good price is quoted to its age and no longer', async () => {
  const { markets, open, clock } = await openStall()
  const prices = await open()
  const asOf = new Date(clock.nowMs()).toISOString()
  markets.say('jupiter', { price: '0.0013' })
  markets.say('dexscreener', { price: '0.001', liquidity: 9_999 })
  for (let poll = 1; poll <= pollsOfAge; poll++) await clock.step()
  expect(requiredOf(prices), 'five minutes old').toBe(5_000_000n)
  expect(prices.tokenPrice()).toMatchObject({ priceUSD: 0.001, asOf })
  expect(problemOf(prices)).toBeUndefined()

  await clock.step()
  expect(requiredOf(prices)).toBeUndefined()
  expect(prices.tokenPrice()).toBeUndefined()
  expect(problemOf(prices)).toBe(
    'the price was last confirmed 315 s ago: the markets are more than 2 % away from their median (jupiter: 0.0013 USD, liquidity 50000, dexscreener: 0.001 USD, liquidity 9999, geckoterminal: 0.001 USD, liquidity 50000)',
  )
})

test('a price that does not move is confirmed without a list, one that moves is on record before it is quoted', async () => {
  const { markets, open, lists, clock } = await openStall()
  const prices = await open()
  for (let poll = 1; poll <= 6; poll++) {
    markets.sayAll(poll % 2 === 0 ? '0.001005' : '0.000996')
    await clock.step()
  }
  expect(requiredOf(prices)).toBe(5_000_000n)
  expect(await lists()).toHaveLength(1)
  expect(prices.tokenPrice()).toMatchObject({ asOf: new Date(clock.nowMs()).toISOString() })

  markets.sayAll('0.00125')
  await clock.step()
  expect(requiredOf(prices), 'a jump is held').toBe(5_000_000n)
  expect(await lists()).toHaveLength(1)
  await clock.step()
  expect(requiredOf(prices), 'and confirmed by the next poll').toBe(4_000_000n)
  expect((await lists()).map(({ prices: [first] }) => first?.tokenPriceAttoUsd)).toEqual([
    1_000_000_000_000_000n,
    1_250_000_000_000_000n,
  ])
})

test('a list that cannot be written is not quoted: the old price stays in force to its age', async () => {
  const stall = await openStall()
  const prices = await stall.open()
  await stall.ledger.close()
  stall.markets.sayAll('0.0011')
  for (let poll = 1; poll <= pollsOfAge; poll++) await stall.clock.step()
  expect(requiredOf(prices)).toBe(5_000_000n)
  await stall.clock.step()
  expect(requiredOf(prices)).toBeUndefined()
  expect(problemOf(prices)).toBe('the price was last confirmed 315 s ago: the ledger did not take the price list')
})

test('instances whose markets differ a little quote the one list, and write one a minute at most', async () => {
  const { open, lists, clock, markets } = await openStall()
  const others = await openMarketServers('0.001008')
  const instances = [await open(), await open({ env: others.env })]
  expect(await lists()).toHaveLength(1)
  const quoted = new Set<unknown>()
  for (let poll = 1; poll <= 8; poll++) {
    await clock.step()
    for (const prices of instances) quoted.add(prices.currentPrice(qrcode))
  }
  const listed = (await lists()).map(({ prices }, index) => ({
    ...prices.find(({ endpoint }) => endpoint === qrcode),
    priceList: index + 1,
  }))
  expect(listed.length, 'in two minutes').toBeLessThanOrEqual(3)
  expect(listed, 'and nothing else was quoted').toEqual(expect.arrayContaining([...quoted]))
  expect(markets.asked.length).toBe(27)
})

test('of instances that publish at the same moment one does, and the other goes by its list', async () => {
  const { open, lists } = await openStall()
  const instances = await Promise.all([open(), open(), open(), open()])
  expect(instances.map(requiredOf)).toEqual([5_000_000n, 5_000_000n, 5_000_000n, 5_000_000n])
  expect(await lists()).toHaveLength(1)
})

test('a list that the operator fixed, or one by other decimals, is not taken for the market', async () => {
  const { open, lists } = await openStall()
  await open({ env: { TOKEN_PRICE_SOURCE: 'fixed', TOKEN_PRICE_USD: '0.001' } })
  await open()
  // Jupiter reports six, so it is ignored here; the two others are enough.
  const nine = await open({ terms: { ...terms, decimals: 9 } })
  expect(requiredOf(nine)).toBe(5_000_000_000n)
  expect((await lists()).map(({ source, prices: [first] }) => `${source} ${first?.decimals}`)).toEqual([
    'fixed 6',
    'market 6',
    'market 9',
  ])
})

test('a list stands until the split of a dollar changes', async () => {
  const { open, lists } = await openStall()
  const divided = { CURRENCIES: 'usdc:split=provider:70+treasury:30' }
  for (const env of [divided, divided, { CURRENCIES: 'usdc' }]) await open({ env })
  const [own, standard, ...more] = await lists()
  const split = [
    { account: 'provider', perMille: 700 },
    { account: 'treasury', perMille: 300 },
  ]
  expect(own?.dollarSplits).toEqual([{ mint: otherWallet, split }])
  expect(standard).not.toHaveProperty('dollarSplits')
  expect(more).toEqual([])
})

test('a treasury that gets less of a dollar than the burn that it delivers does not start', async () => {
  const { open, lists } = await openStall()
  const poor = 'usdc:split=provider:80+treasury:20'
  await expect(open({ env: { CURRENCIES: poor } })).rejects.toThrow(
    'CURRENCIES gives treasury 20% of USDC, and SPLIT burns 30%: give treasury at least that share, or set burn=none',
  )
  await open({ env: { CURRENCIES: `${poor}:burn=none` } })
  expect(await lists()).toHaveLength(1)
})

test('a token of which one is worth more than a request stops quotes, and names the smallest price that splits', async () => {
  const { open, markets, clock } = await openStall()
  const prices = await open({ terms: { ...terms, decimals: 0 } })
  expect(requiredOf(prices)).toBe(5n)
  markets.sayAll('0.006')
  await clock.step()
  await clock.step()
  expect(requiredOf(prices)).toBeUndefined()
  expect(problemOf(prices)).toContain(
    '/api/tools/qrcode costs 1 base units, and the burn would take all of it. The smallest price that splits is 2 base units, 0.012 USD',
  )
})

test('products that cannot be sold at the last agreed price do not replace those that are', async () => {
  const { open } = await openStall('0.006')
  const earlier = await open()
  await expect(open({ earlier, terms: { ...terms, decimals: 0 } })).rejects.toThrow(/The smallest price that splits/)
  expect(requiredOf(earlier)).toBe(833_334n)
})

test('a fixed price of which the burn takes all does not start', async () => {
  const { open } = await openStall()
  const env = { TOKEN_PRICE_SOURCE: 'fixed', TOKEN_PRICE_USD: '0.006' }
  await expect(open({ env, terms: { ...terms, decimals: 0 } })).rejects.toThrow(
    /The smallest price that splits is 2 base units, 0.012 USD at this token price. Set another price in PRICES_USD/,
  )
})

test('a token worth so little that a request needs more than 2^64 - 1 base units stops quotes and nothing else', async () => {
  const { open, lists, markets, clock } = await openStall()
  const prices = await open({ terms: { ...terms, decimals: 9 } })
  expect(requiredOf(prices)).toBe(5_000_000_000n)
  markets.sayAll('0.000000000004')
  await clock.step()
  expect(requiredOf(prices), 'it may be a jump').toBe(5_000_000_000n)
  await clock.step()
  expect(requiredOf(prices), 'it is none: the old price is not valid').toBeUndefined()
  expect(problemOf(prices)).toMatch(/more tokens than can exist/)
  expect(await lists()).toHaveLength(1)

  markets.sayAll('0.000000000005')
  await clock.step()
  await clock.step()
  expect(prices.currentPrice('/api/tools/pdf')?.requiredBaseUnits).toBe(16_000_000_000_000_000_000n)
})
