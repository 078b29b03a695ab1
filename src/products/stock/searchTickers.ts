import { z } from 'zod'
import type { FreeSearch } from '../../product/freeSearch.ts'
import { findListed } from '../../sourcing/listedNames.ts'
import tickers from './tickers.json' with { type: 'json' }

const listed = Object.entries(tickers).map(([symbol, name]) => ({ symbol, name }))

export const tickerSearch: FreeSearch = {
  path: '/api/search/tickers',
  summary: 'Tickers of large companies by symbol or name',
  result: z.object({ symbol: z.string().meta({ description: 'for GET /api/data/stock' }), name: z.string() }),
  example: { query: 'apple' },
  find: (query, limit) =>
    findListed(listed, query)
      .slice(0, limit)
      .map(({ symbol, name }) => ({ symbol, name })),
}

const symbols: ReadonlySet<string> = new Set(Object.keys(tickers))

/** True if the ticker is in our list of large companies. Other tickers may exist too. */
export function isListedTicker(symbol: string): boolean {
  return symbols.has(symbol)
}
