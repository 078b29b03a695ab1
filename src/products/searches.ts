import type { FreeSearch } from '../product/freeSearch.ts'
import { coinSearch } from './crypto/searchCoins.ts'
import { placeSearch } from './weather/searchPlaces.ts'
import { tickerSearch } from './stock/searchTickers.ts'

/** All free searches. To add a search, add its name here. */
export const searches: readonly FreeSearch[] = [coinSearch, tickerSearch, placeSearch]
