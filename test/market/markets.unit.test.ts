import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDexscreener } from '../../src/market/dexscreener.ts'
import { createGeckoterminal } from '../../src/market/geckoterminal.ts'
import { createJupiter } from '../../src/market/jupiter.ts'
import type { ProviderDeps } from '../../src/sourcing/provider.ts'
import { createUpstream } from '../../src/outbound/upstream.ts'
import { UpstreamFailure } from '../../src/product/upstreamFailure.ts'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { formatDecimal } from '@tollbook/core/money'
import { readConfig } from '../../src/config.ts'
import { type MarketName, openMarketServers } from '../support/marketServers.ts'

const servers = await openMarketServers()
const creators = { jupiter: createJupiter, dexscreener: createDexscreener, geckoterminal: createGeckoterminal }
const mint = '9xTokenMint1111111111111111111111111111111p'

interface Said {
  readonly priceUsd: string
  readonly liquidityUsd: bigint | undefined
}

/** Result of the adapter for an answer: a price, or the kind of failure. Each query has a separate adapter. */
async function hear(
  market: MarketName,
  answer: { status?: number; body: unknown; headers?: Readonly<Record<string, string>> },
): Promise<Said | string> {
  const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
  servers.say(market, { status: answer.status ?? 200, body, headers: answer.headers ?? {} })
  const deps: ProviderDeps = {
    clock: systemClock,
    log: silentLog,
    upstreams: readConfig({ ...servers.env, JUPITER_API_KEY: 'jupiter-key' }).providers.upstreams,
    sampleUpstreams: false,
    isProbed: false,
    openUpstream: (options) =>
      createUpstream(
        { clock: systemClock, log: silentLog, version: '0', contact: 'test', onCall: () => undefined },
        options,
      ),
  }
  try {
    const { data } = await creators[market](deps).ask({ address: mint, decimals: 6 })
    return { priceUsd: formatDecimal(data.tokenPriceAttoUsd, 18), liquidityUsd: data.liquidityUsd }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    return error.kind
  }
}

const fixture = z.object({
  request: z.object({ url: z.string() }),
  response: z.object({ status: z.number(), headers: z.record(z.string(), z.string()), body: z.unknown() }),
  expect: z.object({
    ok: z.object({ priceUsd: z.string(), liquidityUsd: z.number() }).optional(),
    error: z.object({ kind: z.string() }).optional(),
  }),
})

const markets = ['jupiter', 'dexscreener', 'geckoterminal'] as const
const folder = new URL('../fixtures/upstreams/', import.meta.url)
const samples = markets.flatMap((market) =>
  readdirSync(new URL(`${market}/`, folder))
    .filter((name) => name.endsWith('.json'))
    .map((name): [MarketName, string] => [market, name]),
)

test.each(samples)('the sample of %s %s means what its author says', async (market, name) => {
  const { response, expect: expected } = fixture.parse(
    JSON.parse(readFileSync(new URL(`${market}/${name}`, folder), 'utf8')),
  )
  const { ok, error } = expected
  const said = await hear(market, response)
  expect(said).toEqual(
    ok === undefined ? error?.kind : { priceUsd: ok.priceUsd, liquidityUsd: BigInt(Math.floor(ok.liquidityUsd)) },
  )
})

test('each is asked for the mint at the path that it documents, Jupiter with its key', async () => {
  const from = servers.asked.length
  for (const market of markets) await hear(market, { body: '{}' })
  const [jupiter, dexscreener, geckoterminal] = servers.asked.slice(from)
  expect(jupiter?.url).toBe(`/price/v3?ids=${mint}`)
  expect(jupiter?.headers['x-api-key']).toBe('jupiter-key')
  expect(dexscreener?.url).toBe(`/tokens/v1/solana/${mint}`)
  expect(geckoterminal?.url).toBe(
    `/api/v2/simple/networks/solana/token_price/${mint}?include_24hr_price_change=true&include_total_reserve_in_usd=true`,
  )
  for (const keyless of [dexscreener, geckoterminal]) expect(keyless?.headers['x-api-key']).toBeUndefined()
})

const other = mint.toLowerCase()
const jupiterToken = (change: object) => ({ [mint]: { usdPrice: 0.001, liquidity: 50_000, decimals: 6, ...change } })
const pair = (change: object) => ({
  chainId: 'solana',
  baseToken: { address: mint },
  priceUsd: '0.001',
  liquidity: { usd: 50_000 },
  txns: { h24: { buys: 3, sells: 2 } },
  ...change,
})
const gecko = (price: unknown, reserve?: unknown, key = mint) => ({
  data: { attributes: { token_prices: { [key]: price }, total_reserve_in_usd: { [key]: reserve } } },
})

describe('a market that says no price that we can believe has failed', () => {
  test.each<[string, MarketName, Parameters<typeof hear>[1], string]>([
    ['zero', 'jupiter', { body: jupiterToken({ usdPrice: 0 }) }, 'incomplete'],
    ['negative zero', 'jupiter', { body: `{"${mint}":{"usdPrice":-0.0}}` }, 'incomplete'],
    ['a negative price', 'jupiter', { body: jupiterToken({ usdPrice: -0.001 }) }, 'incomplete'],
    ['null', 'jupiter', { body: jupiterToken({ usdPrice: null }) }, 'incomplete'],
    ['nothing', 'jupiter', { body: { [mint]: {} } }, 'incomplete'],
    ['more than a million dollars', 'jupiter', { body: jupiterToken({ usdPrice: 1_000_001 }) }, 'incomplete'],
    ['infinity', 'jupiter', { body: `{"${mint}":{"usdPrice":1e999}}` }, 'bad_payload'],
    ['next to nothing', 'geckoterminal', { body: gecko('0.0000000000009') }, 'incomplete'],
    ['words', 'geckoterminal', { body: gecko('about 1') }, 'incomplete'],
    ['a number of a thousand digits', 'geckoterminal', { body: gecko('1'.repeat(1_000)) }, 'bad_payload'],
    ['a huge exponent', 'dexscreener', { body: [pair({ priceUsd: '1e-999999999' })] }, 'incomplete'],
    ['null', 'dexscreener', { body: [pair({ priceUsd: null })] }, 'incomplete'],
    ['null', 'geckoterminal', { body: gecko(null) }, 'not_found'],
    ['negative liquidity', 'jupiter', { body: jupiterToken({ liquidity: -1 }) }, 'incomplete'],
    ['negative reserves', 'geckoterminal', { body: gecko('0.001', '-5') }, 'incomplete'],
    ['other decimals', 'jupiter', { body: jupiterToken({ decimals: 9 }) }, 'bad_payload'],
    [
      'an answer of a quarter of an hour ago',
      'jupiter',
      { body: jupiterToken({}), headers: { age: '900' } },
      'incomplete',
    ],
    [
      'a pool without trades for a day',
      'dexscreener',
      { body: [pair({ txns: { h24: { buys: 0, sells: 0 } } })] },
      'incomplete',
    ],
    ['pools of unknown depth', 'dexscreener', { body: [pair({ liquidity: undefined })] }, 'incomplete'],
    ['another token', 'jupiter', { body: { [other]: { usdPrice: 1 } } }, 'not_found'],
    ['another token', 'dexscreener', { body: [pair({ baseToken: { address: other } })] }, 'not_found'],
    ['another token', 'geckoterminal', { body: gecko('1', '50000', other) }, 'not_found'],
    ['another chain', 'dexscreener', { body: [pair({ chainId: 'eclipse' })] }, 'not_found'],
    ['no pools', 'dexscreener', { body: [] }, 'not_found'],
    ['an error under 200', 'jupiter', { body: { error: 'internal', code: 500 } }, 'bad_payload'],
    ['an error under 200', 'dexscreener', { body: { success: false } }, 'bad_payload'],
    [
      'a limit under 200',
      'geckoterminal',
      { body: { status: { error_code: 429, error_message: 'slow' } } },
      'rate_limited',
    ],
    ['errors under 200', 'geckoterminal', { body: { errors: [{ status: '401', title: 'Unauthorized' }] } }, 'auth'],
    ['errors', 'geckoterminal', { status: 400, body: { errors: [{ status: '400' }] } }, 'bad_payload'],
    ['a 404', 'geckoterminal', { status: 404, body: { errors: [{ status: '404' }] } }, 'not_found'],
    [
      'a limit',
      'geckoterminal',
      { status: 429, body: { status: { error_code: 429 } }, headers: { 'retry-after': '0' } },
      'rate_limited',
    ],
    ['a limit', 'jupiter', { status: 429, body: 'Too many requests' }, 'rate_limited'],
    ['a bad key', 'jupiter', { status: 401, body: { code: 401, message: 'Unauthorized' } }, 'auth'],
    ['a 500', 'jupiter', { status: 500, body: '' }, 'upstream'],
    ...markets.map((market): [string, MarketName, { body: unknown }, string] => [
      'HTML',
      market,
      { body: '<html>hello</html>' },
      'bad_payload',
    ]),
    ...markets.map((market): [string, MarketName, { body: unknown }, string] => [
      'null for a body',
      market,
      { body: 'null' },
      'bad_payload',
    ]),
  ])('%s from %s', async (_, market, answer, kind) => {
    expect(await hear(market, answer)).toBe(kind)
  })
})

describe('a price is read to the last digit', () => {
  test.each<[string, MarketName, string]>([
    ['8.1178e-05', 'jupiter', '0.000081178'],
    ['1.2e-8', 'jupiter', '0.000000012'],
    ['0.1', 'jupiter', '0.1'],
    ['0.30000000000000004', 'jupiter', '0.30000000000000004'],
    ['"0.000081178"', 'jupiter', '0.000081178'],
    ['123456.789', 'jupiter', '123456.789'],
  ])('%s of %s', async (price, market, priceUsd) => {
    expect(await hear(market, { body: `{"${mint}":{"usdPrice":${price}}}` })).toEqual({
      priceUsd,
      liquidityUsd: undefined,
    })
  })

  test('digits beyond the eighteenth are cut off', async () => {
    expect(await hear('geckoterminal', { body: gecko('0.0000811903117123456789', '1e5') })).toEqual({
      priceUsd: '0.000081190311712345',
      liquidityUsd: 100_000n,
    })
  })
})

test('an answer that a cache has had for two minutes is believed, and no older one', async () => {
  const ofAge = (age: string) => hear('jupiter', { body: { [mint]: { usdPrice: 1 } }, headers: { age } })
  expect(await ofAge('120')).toMatchObject({ priceUsd: '1', liquidityUsd: undefined })
  expect(await ofAge('121')).toBe('incomplete')
})

test('a pool that is only sold from has trades', async () => {
  const sold = pair({ txns: { h24: { buys: 0, sells: 1 } } })
  expect(await hear('dexscreener', { body: [sold] })).toMatchObject({ priceUsd: expect.any(String) })
})

test('a pool that is dressed up with a high price loses to the deepest one, wherever it stands', async () => {
  const body = [pair({ priceUsd: '9', liquidity: { usd: 900 } }), pair({}), pair({ priceUsd: '7', liquidity: null })]
  for (const order of [body, body.toReversed()])
    expect(await hear('dexscreener', { body: order })).toEqual({ priceUsd: '0.001', liquidityUsd: 50_000n })
})
