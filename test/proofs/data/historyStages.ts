import { z } from 'zod'
import { crypto } from '../../../src/products/crypto/crypto.ts'
import { stock } from '../../../src/products/stock/stock.ts'
import { sampleAnswer } from '../../support/upstreamSample.ts'
import { honestReply, openOrder, whyNot } from './priceStages.ts'
import type { Stage, StagedProvider } from './stage.ts'

/* The histories that are sold with a price, whose other requests stay honest. */

const near = (percent: number, truth: number) =>
  z.number().refine((value) => Math.abs(value / truth - 1) <= percent / 100)

/** Every price of the fixtures is within half a per cent of this one. */
const bitcoin = 77_500
const bitcoinBar = z.object({
  time: z.iso.datetime().refine((time) => time >= '2026-11-19T12:00' && time <= '2026-11-20T12:30'),
  open: near(8.5, bitcoin),
  high: near(8.5, bitcoin),
  low: near(8.5, bitcoin),
  close: near(3.5, bitcoin),
  volume: z.number().min(0).optional(),
})
const bitcoinData = z.object({
  symbol: z.literal('BTC'),
  price: near(3.1, 77_671),
  history: z.object({ currency: z.literal('USD'), bars: z.array(bitcoinBar).min(12).max(48) }),
})

const besides = (part: string, sample: string): Pick<StagedProvider, 'aside'> => ({
  aside: ({ pathname, search }) => (`${pathname}${search}`.includes(part) ? undefined : sampleAnswer(sample)),
})

const bitcoinHistory: Stage = {
  name: 'crypto BTC with a day of history',
  open: openOrder(crypto, { symbol: 'BTC', history: '1d' }),
  whyWrong: whyNot(bitcoinData),
  thinning: 11,
  providers: [
    {
      name: 'KRAKEN',
      honest: honestReply('kraken/ohlc-xbtusd'),
      ...besides('/OHLC', 'kraken/ticker-xbtusd'),
      facts: { amounts: /\.[1-5]$/, current: /\.23\.4$/ },
    },
    {
      name: 'COINGECKO',
      honest: honestReply('coingecko/ohlc-bitcoin-1d'),
      ...besides('/ohlc', 'coingecko/markets-btc'),
      facts: { amounts: /\.[1-4]$/, current: /^47\.4$/ },
    },
    { name: 'COINPAPRIKA', honest: honestReply('coinpaprika/ticker-btc') },
  ],
}

const closes = [263.02, 264.5, 265.77, 266.19, 267.44]
const dates = ['2026-11-13', '2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19']
/** Without a bar of the day that runs, every bar is confirmed. */
const appleData = z.object({
  symbol: z.literal('AAPL'),
  price: near(2.1, 267.44),
  history: z.object({
    currency: z.literal('USD'),
    bars: z
      .array(
        z.object({ time: z.iso.datetime(), close: z.number(), open: z.number(), high: z.number(), low: z.number() }),
      )
      .min(3)
      .refine((bars) =>
        bars.every(({ time, close, open, high, low }) => {
          const truth = closes[dates.indexOf(time.slice(0, 10))]
          if (truth === undefined) return false
          const isNear = (value: number, percent: number) => Math.abs(value / truth - 1) <= percent / 100
          return isNear(close, 2.1) && isNear(open, 3.8) && isNear(high, 4.5) && isNear(low, 4.5)
        }),
      ),
  }),
})

const appleHistory: Stage = {
  name: 'stock AAPL with five days of history',
  open: openOrder(stock, { symbol: 'AAPL', history: '5d' }),
  whyWrong: whyNot(appleData),
  thinning: 2,
  apiKeys: { TWELVE_DATA: 'key' },
  providers: [
    {
      name: 'TWELVE_DATA',
      honest: honestReply('twelvedata/time-series-aapl-5d'),
      ...besides('/time_series', 'twelvedata/quote-aapl'),
      facts: { amounts: /values.*(close|open|high|low)$/, current: /4\.close$/ },
    },
    {
      name: 'YAHOO',
      honest: honestReply('yahoo/chart-aapl-5d'),
      ...besides('range=5d', 'yahoo/chart-aapl-1d'),
      facts: { amounts: /indicators.*(close|low|high|open)/, current: /close\.4$/ },
    },
  ],
}

const appleLicensedHistory: Stage = {
  ...appleHistory,
  name: 'stock AAPL with five days of history and two licences',
  apiKeys: { TWELVE_DATA: 'key', EODHD: 'key' },
  providers: [
    ...appleHistory.providers.slice(0, 1),
    {
      name: 'EODHD',
      honest: honestReply('eodhd/splitadjusted-aapl-5d'),
      ...besides('/technical/', 'eodhd/real-time-aapl'),
      facts: { amounts: /\.(close|open|high|low)$/, current: /^4\.close$/ },
    },
  ],
}

export const historyStages: readonly Stage[] = [bitcoinHistory, appleHistory, appleLicensedHistory]
