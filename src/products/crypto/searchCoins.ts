import { z } from 'zod'
import { listedCoins } from './providers/coin.ts'
import type { FreeSearch } from '../../product/freeSearch.ts'
import { findListed } from '../../sourcing/listedNames.ts'

const coins = listedCoins().map(({ symbol, coingecko: id }) => ({ symbol, id, name: id.replaceAll('-', ' ') }))

export const coinSearch: FreeSearch = {
  path: '/api/search/coins',
  summary: 'Listed coins by symbol or name',
  result: z.object({
    symbol: z.string().meta({ description: 'for GET /api/data/crypto' }),
    id: z.string().meta({ description: 'of CoinGecko' }),
  }),
  example: { query: 'bitcoin' },
  find: (query, limit) =>
    findListed(coins, query)
      .slice(0, limit)
      .map(({ symbol, id }) => ({ symbol, id })),
}
