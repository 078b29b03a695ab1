import type { FreeSearch } from './freeSearch.ts'
import { coinSearch } from './searchCoins.ts'
import { placeSearch } from './searchPlaces.ts'
import { tickerSearch } from './searchTickers.ts'

/** All free searches. A new one is one more name here. */
export const searches: readonly FreeSearch[] = [coinSearch, tickerSearch, placeSearch]
