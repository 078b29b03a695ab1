import { z } from 'zod'
import { findPlace } from './places/findPlace.ts'
import { openGazetteer } from './places/gazetteer.ts'
import type { FreeSearch } from '../../product/freeSearch.ts'

export const placeSearch: FreeSearch = {
  path: '/api/search/places',
  summary: 'Listed places of a name, the most populous first',
  result: z.object({
    name: z.string(),
    country: z.string(),
    countryCode: z.string(),
    region: z.string().optional(),
    latitude: z.number().meta({ description: 'for GET /api/data/weather' }),
    longitude: z.number(),
  }),
  example: { query: 'Valencia' },
  // Finds only whole names, because an index of name prefixes would take much memory.
  find(query, limit) {
    const search = findPlace(openGazetteer(), query)
    if (search.kind === 'unlisted') return []
    return [search.place, ...search.alternatives].slice(0, limit).map((place) => ({ ...place }))
  },
}
