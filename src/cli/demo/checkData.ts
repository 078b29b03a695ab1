import { z } from 'zod'
import { expectThat } from './demoDeps.ts'

/*
 * What comes back for money has the shape that the interface promises and figures that can be true. Each check returns
 * what there is to tell.
 */

const positive = z.number().positive()
const signedText = z.string().regex(/^[+-]\d+(\.\d+)?$/)
const percentText = z.string().regex(/^[+-]\d+(\.\d+)?%$/)

const cryptoJson = z.object({
  symbol: z.literal('SOL'),
  price: positive,
  change24h: percentText,
  volume24h: positive,
  marketCap: positive,
})

export function checkCrypto(data: unknown): string {
  const { symbol, price, change24h, volume24h, marketCap } = cryptoJson.parse(data)
  expectThat(marketCap > volume24h / 10 && marketCap > price, 'a market is worth more than one coin')
  return `${symbol} at $${price}, ${change24h} in 24 hours; market cap $${inMillions(marketCap)}`
}

const weatherJson = z.object({
  location: z.object({ city: z.literal('London'), country: z.literal('United Kingdom') }),
  current: z.object({
    temperature: z.object({ celsius: z.number().min(-40).max(50), fahrenheit: z.number() }),
    humidity: z.number().min(0).max(100),
    description: z.string().min(1),
  }),
})

export function checkWeather(data: unknown): string {
  const { location, current } = weatherJson.parse(data)
  const { celsius, fahrenheit } = current.temperature
  // Both are rounded to a tenth from the same figure.
  expectThat(Math.abs((celsius * 9) / 5 + 32 - fahrenheit) < 0.2, `${celsius} °C are ${fahrenheit} °F`)
  return `${location.city}, ${location.country}: ${celsius} °C, ${fahrenheit} °F, humidity ${current.humidity} %, ${current.description}`
}

const stockJson = z.object({
  symbol: z.literal('AAPL'),
  price: positive,
  change: signedText,
  changePercent: percentText,
  volume: z.int().nonnegative(),
})

export function checkStock(data: unknown): string {
  const { symbol, price, change, changePercent, volume } = stockJson.parse(data)
  const previousClose = price - Number(change)
  const percent = (Number(change) / previousClose) * 100
  expectThat(Math.abs(percent - Number.parseFloat(changePercent)) < 0.11, `${change} are ${changePercent}`)
  return `${symbol} at $${price}, ${change} (${changePercent}), volume ${volume.toLocaleString('en-US')}`
}

const newsJson = z.object({
  articles: z
    .array(
      z.object({ title: z.string().min(1), source: z.string().min(1), url: z.url(), publishedAt: z.iso.datetime() }),
    )
    .min(1)
    .max(3),
  total: z.int(),
})

export function checkNews(data: unknown): string {
  const { articles, total } = newsJson.parse(data)
  expectThat(total === articles.length, `${articles.length} articles are counted as ${total}`)
  const [first] = articles
  return `${total} articles, the first: "${first?.title}" (${first?.source}, ${first?.publishedAt})`
}

const chatJson = z.object({ reply: z.string().min(1), model: z.string().min(1) })
const toldMax = 100

export function checkChat(data: unknown): string {
  const { reply, model } = chatJson.parse(data)
  const line = reply.replaceAll(/\s+/g, ' ')
  return `${model}: "${line.length > toldMax ? `${line.slice(0, toldMax)}…` : line}"`
}

function inMillions(figure: number): string {
  return `${Math.round(figure / 1e6).toLocaleString('en-US')} million`
}
