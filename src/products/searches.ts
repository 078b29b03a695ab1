import type { FreeSearch } from '../product/freeSearch.ts'
import { coinSearch } from './crypto/searchCoins.ts'
import { placeSearch } from './weather/searchPlaces.ts'
import { tickerSearch } from './stock/searchTickers.ts'

/** All free searches. A new one is one more name here. */
export const searches: readonly FreeSearch[] = [coinSearch, tickerSearch, placeSearch]
