import { z } from 'zod'
import type { PaidPath } from '../pricing/priceList.ts'

/*
 * `data` of each endpoint, as the specification names it in section 2. Total over the price list: what has a price has a
 * shape. Handlers may add fields, never leave one out.
 */

const percent = z
  .string()
  .regex(/^[+-]?\d+(\.\d+)?%$/)
  .meta({ description: 'signed percentage, such as +2.50%' })

const crypto = z.object({
  symbol: z.string().meta({ description: 'the requested symbol' }),
  price: z.number().meta({ description: 'US dollars' }),
  change24h: percent,
  volume24h: z.number().meta({ description: 'US dollars traded in 24 hours' }),
  marketCap: z.number().meta({ description: 'US dollars' }),
})

const weather = z.object({
  location: z.object({ city: z.string(), country: z.string() }),
  current: z.object({
    temperature: z.object({ celsius: z.number(), fahrenheit: z.number() }),
    humidity: z.number().meta({ description: 'per cent' }),
    description: z.string().meta({ description: 'conditions, in words' }),
  }),
})

const stock = z.object({
  symbol: z.string().meta({ description: 'the ticker' }),
  price: z.number(),
  change: z.string().meta({ description: 'signed amount, such as +1.25' }),
  changePercent: percent,
  volume: z.number(),
})

const news = z.object({
  articles: z.array(
    z.object({
      title: z.string(),
      source: z.string().meta({ description: 'name of the publisher' }),
      url: z.string().meta({ format: 'uri' }),
      publishedAt: z.iso.datetime(),
    }),
  ),
  total: z.number().meta({ description: 'number of articles in this answer' }),
})

const qrcode = z.object({
  qrCode: z
    .string()
    .regex(/^data:image\/(png|svg\+xml);base64,/)
    .meta({ description: 'data URI of the picture' }),
  originalData: z.string().meta({ description: 'the text in the code, as it was sent' }),
  size: z
    .string()
    .regex(/^\d+x\d+$/)
    .meta({ description: 'width x height in pixels' }),
})

const screenshot = z.object({
  imageUrl: z.string().meta({ format: 'uri', description: 'where the picture can be fetched, for a while' }),
  width: z.number().meta({ description: 'pixels' }),
  height: z.number().meta({ description: 'pixels' }),
  format: z.string().meta({ description: 'png' }),
})

const pdf = z.object({
  pdfUrl: z.string().meta({ format: 'uri', description: 'where the document can be fetched, for a while' }),
  pages: z.number(),
  size: z
    .string()
    .regex(/^\d+(\.\d+)? [kKMG]?i?B$/)
    .meta({ description: 'for people, such as 12.3 KB' }),
})

const tokens = z.int().min(0).nullable().meta({ description: 'null when the language model did not say' })

const chat = z.object({
  reply: z.string().min(1),
  model: z.string().meta({ description: 'the model, in the words of its server' }),
  usage: z.object({ promptTokens: tokens, completionTokens: tokens, totalTokens: tokens }),
})

export const answers: Readonly<Record<PaidPath, z.ZodType>> = {
  '/api/data/crypto': crypto,
  '/api/data/weather': weather,
  '/api/data/stock': stock,
  '/api/data/news': news,
  '/api/tools/qrcode': qrcode,
  '/api/tools/screenshot': screenshot,
  '/api/tools/pdf': pdf,
  '/api/ai/chat': chat,
}
