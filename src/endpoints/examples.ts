import type { Json } from '@tollbook/core/canonicalJson'
import type { PaidPath } from '../pricing/priceList.ts'

export interface Example {
  /** What is asked, as query or body. In no text is a single quote: it is pasted into a shell. */
  readonly parameters: Readonly<Record<string, Json>>
  readonly data: Json
}

/** One order and one answer of each endpoint, for the document. A test sends them through the schemas that they illustrate. */
export const examples: Readonly<Record<PaidPath, Example>> = {
  '/api/data/crypto': {
    parameters: { symbol: 'BTC' },
    data: {
      symbol: 'BTC',
      price: 84_213.5,
      change24h: '+1.42%',
      volume24h: 31_250_000_000,
      marketCap: 1_672_000_000_000,
    },
  },
  '/api/data/weather': {
    parameters: { city: 'Berlin' },
    data: {
      location: { city: 'Berlin', country: 'Germany' },
      current: { temperature: { celsius: 7.4, fahrenheit: 45.3 }, humidity: 81, description: 'Light rain' },
    },
  },
  '/api/data/stock': {
    parameters: { symbol: 'AAPL' },
    data: { symbol: 'AAPL', price: 271.36, change: '+1.25', changePercent: '+0.46%', volume: 41_238_900 },
  },
  '/api/data/news': {
    parameters: { category: 'tech', limit: 3 },
    data: {
      articles: [
        {
          title: 'A title',
          source: 'A publisher',
          url: 'https://news.example/article',
          publishedAt: '2026-11-20T12:30:00Z',
        },
      ],
      total: 1,
    },
  },
  '/api/tools/qrcode': {
    parameters: { data: 'https://example.com', size: 256, format: 'png' },
    data: { qrCode: 'data:image/png;base64,iVBORw0KGgo…', originalData: 'https://example.com', size: '256x256' },
  },
  '/api/tools/screenshot': {
    parameters: { url: 'https://example.com', width: 1_280, height: 720, fullPage: false },
    data: {
      imageUrl: 'https://tollbook.example/artifacts/kOAgmleLkUamm7.png',
      width: 1_280,
      height: 720,
      format: 'png',
    },
  },
  '/api/tools/pdf': {
    parameters: { html: '<h1>Hello</h1>', format: 'A4', margin: { top: '1cm' } },
    data: { pdfUrl: 'https://tollbook.example/artifacts/gb3swTAuxnPZDc.pdf', pages: 1, size: '12.3 KB' },
  },
  '/api/ai/chat': {
    parameters: { message: 'Say hi' },
    data: { reply: 'Hi!', model: 'llama3.2', usage: { promptTokens: 27, completionTokens: 3, totalTokens: 30 } },
  },
}
