import { z } from 'zod'
import { crypto } from '../../../src/products/crypto/crypto.ts'
import { openEndpoint, type ProductDefinition } from '../../../src/product/productDefinition.ts'
import type { ProviderDeps } from '../../../src/sourcing/provider.ts'
import { stock } from '../../../src/products/stock/stock.ts'
import { assert } from '@tollbook/core/assert'
import { readSample, sampleAnswer } from '../../support/upstreamSample.ts'
import type { HonestReply } from './httpFaults.ts'
import type { Stage } from './stage.ts'

/** The reply of a fixture. */
export function honestReply(sample: string, change: (text: string) => string = (text) => text): HonestReply {
  const { headers, body, bodyText } = readSample(sample).response
  return { headers, text: change(bodyText ?? JSON.stringify(body)) }
}

export function openOrder(
  product: ProductDefinition<ProviderDeps>,
  order: Readonly<Record<string, string>>,
): Stage['open'] {
  return (deps) => {
    const endpoint = openEndpoint(product, deps)
    const read = endpoint.read(order)
    assert(read.ok, 'the order of a stage is legal')
    const job = { signal: new AbortController().signal, requestId: 'request', payer: 'payer', payment: 'payment' }
    return { buy: () => read.deliver(job) }
  }
}

// Twice the tolerance of prices: what is sold may be that far from the first provider's fixture.
const near = (value: number, truth: number, percent: number) => Math.abs(value / truth - 1) <= percent / 100
const within = (value: number, truth: number, points: number) => Math.abs(value - truth) <= points
const sameSize = (value: number, truth: number, factor: number) => value <= truth * factor && value >= truth / factor

const cryptoData = z.object({
  symbol: z.literal('BTC'),
  price: z.number().refine((price) => near(price, 77_671, 3.1)),
  change24h: z.string().refine((change) => within(Number.parseFloat(change), -0.95, 3)),
  volume24h: z.number().refine((volume) => sameSize(volume, 33_235_034_316, 11)),
  marketCap: z.number().refine((cap) => sameSize(cap, 1_555_886_872_303, 1.5)),
})
const stockData = z.object({
  symbol: z.literal('AAPL'),
  price: z.number().refine((price) => near(price, 267.44, 2.1)),
  change: z.string().refine((change) => within(Number(change), 1.25, 5.4)),
  changePercent: z.string().refine((change) => within(Number.parseFloat(change), 0.5, 2.1)),
  volume: z.number().refine((volume) => sameSize(volume, 45_018_260, 10)),
})

/** The path of the first field that is not as the truth. */
export function whyNot(shape: z.ZodType) {
  return (data: unknown): string | undefined => {
    const parsed = shape.safeParse(data)
    return parsed.success ? undefined : (parsed.error.issues[0]?.path.join('.') ?? 'shape')
  }
}

export const bitcoinStage: Stage = {
  name: 'crypto BTC',
  open: openOrder(crypto, { symbol: 'BTC' }),
  whyWrong: whyNot(cryptoData),
  forgottenAfterMs: 11 * 60_000 + 1_000,
  providers: [
    {
      name: 'COINGECKO',
      honest: honestReply('coingecko/markets-btc'),
      facts: {
        amounts: /current_price|cap$|volume|valuation|_24h$|ath$|atl$/,
        current: /current_price/,
      },
    },
    {
      name: 'COINPAPRIKA',
      honest: honestReply('coinpaprika/ticker-btc'),
      facts: { amounts: /USD\.(price|volume_24h|market_cap|ath_price)$/, current: /USD\.price$/ },
    },
    {
      name: 'KRAKEN',
      honest: honestReply('kraken/ticker-xbtusd'),
      facts: { amounts: /XXBTZUSD\.[abcplho]/, current: /XXBTZUSD\.c/ },
    },
  ],
}

const yahoo = {
  name: 'YAHOO',
  honest: honestReply('yahoo/chart-aapl-1d'),
  facts: {
    amounts: /MarketPrice|Week|DayHigh|DayLow|PreviousClose|indicators.*(close|low|high|open)/,
    current: /regularMarketPrice|indicators.*close/,
  },
} as const

const twelveData = {
  name: 'TWELVE_DATA',
  honest: honestReply('twelvedata/quote-aapl'),
  facts: { amounts: /^(open|high|low|close|previous_close|change)$|two_week/, current: /^close$/ },
} as const
const eodhd = {
  name: 'EODHD',
  honest: honestReply('eodhd/real-time-aapl'),
  facts: { amounts: /^(open|high|low|close|previousClose|change)$/, current: /^close$/ },
} as const

const apple = {
  open: openOrder(stock, { symbol: 'AAPL' }),
  whyWrong: whyNot(stockData),
  forgottenAfterMs: 16 * 60_000 + 1_000,
}

/** One licensed provider with the keyless one, and two licensed ones. */
export const appleStages: readonly Stage[] = [
  {
    ...apple,
    name: 'stock AAPL with one licence',
    apiKeys: { TWELVE_DATA: 'key' },
    providers: [twelveData, yahoo],
  },
  {
    ...apple,
    name: 'stock AAPL with two licences',
    apiKeys: { TWELVE_DATA: 'key', EODHD: 'key' },
    providers: [twelveData, eodhd],
  },
]

/** Items of one provider, whose absence no other can confirm. */
export const loneStages: readonly Stage[] = [
  {
    name: 'stock 0700.HK',
    open: openOrder(stock, { symbol: '0700.HK' }),
    whyWrong: (data) => whyNot(stockData)({ ...z.record(z.string(), z.unknown()).parse(data), symbol: 'AAPL' }),
    providers: [
      {
        ...yahoo,
        honest: honestReply('yahoo/chart-aapl-1d', (text) => text.replaceAll('AAPL', '0700.HK')),
        facts: undefined,
      },
    ],
  },
  {
    name: 'crypto ZED',
    open: openOrder(crypto, { symbol: 'ZED' }),
    whyWrong: (data) => whyNot(cryptoData)({ ...z.record(z.string(), z.unknown()).parse(data), symbol: 'BTC' }),
    providers: [
      { name: 'COINGECKO', honest: honestReply('coingecko/markets-btc', (text) => text.replace('"btc"', '"zed"')) },
    ],
  },
]

/** The option of crypto that has separate sources. */
export const euroStage: Stage = {
  name: 'crypto BTC in euros',
  open: openOrder(crypto, { symbol: 'BTC', currency: 'EUR' }),
  whyWrong: whyNot(
    z.object({
      symbol: z.literal('BTC'),
      price: z.number().refine((price) => near(price, 77_671 * 0.86, 4.2)),
      marketCap: z.number().refine((cap) => sameSize(cap, 1_555_886_872_303 * 0.86, 1.6)),
    }),
  ),
  forgottenAfterMs: 71 * 60_000,
  thinning: 7,
  providers: [
    {
      name: 'KRAKEN',
      honest: honestReply('kraken/ticker-rates'),
      aside: ({ searchParams }) =>
        searchParams.get('pair') === 'XBTUSD' ? sampleAnswer('kraken/ticker-xbtusd') : undefined,
      facts: { amounts: /EURZUSD\.[abcplho]/, current: /EURZUSD\.[ab]/ },
    },
    {
      name: 'COINGECKO',
      honest: honestReply('coingecko/exchange-rates'),
      aside: ({ pathname }) =>
        pathname.endsWith('/coins/markets') ? sampleAnswer('coingecko/markets-btc') : undefined,
      facts: { amounts: /value$/, current: /eur\.value$/ },
    },
  ],
}
