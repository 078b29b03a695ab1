import { z } from 'zod'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { findPlace } from './places/findPlace.ts'
import { openGazetteer } from './places/gazetteer.ts'
import { createMetNorway } from './providers/metNorway.ts'
import { createNws } from './providers/nws.ts'
import { createOpenMeteo } from './providers/openMeteo.ts'
import type { ProviderDeps } from './providers/provider.ts'
import { coordinate, type WeatherQuery, type WeatherReport } from './providers/weatherReport.ts'
import { createSource } from './source.ts'
import { characterCount, text } from './text.ts'

const city = text({
  expected: "a city name: 1 to 100 letters, marks, digits, spaces and . , ' ( ) -",
  // No pattern: readers of JSON Schema do not agree on \p{L}, and Swagger UI would refuse every city.
  shown: { minLength: 1, maxLength: 100 },
  test: (value) =>
    /^[\p{L}\p{M}\p{Nd} .,'()-]+$/u.test(value) && /[\p{L}\p{Nd}]/u.test(value) && characterCount(value) <= 100,
})

const minute = 60 * 1000

export function createWeather(deps: ProviderDeps): Endpoint {
  const gazetteer = openGazetteer()
  const source = createSource<WeatherQuery, WeatherReport>(deps, {
    what: 'weather report',
    providers: [createMetNorway(deps), createOpenMeteo(deps), createNws(deps)],
    keyOf: ({ latitude, longitude }) => `${coordinate(latitude)},${coordinate(longitude)}`,
    freshMs: 10 * minute,
    staleMs: 170 * minute,
    ageMaxMs: 180 * minute,
    // The step of a forecast that is nearest to now may be the next one.
    aheadMaxMs: 180 * minute,
  })
  return defineEndpoint({
    path: '/api/data/weather',
    method: 'GET',
    summary: 'Current weather in a city',
    schema: z.strictObject({ city }),
    whyUnavailable: () => source.whyUnavailable(),
    whyNoData({ city }) {
      const search = findPlace(gazetteer, city)
      return search.kind === 'unknown' ? search.why : undefined
    },
    async handle({ city }) {
      const search = findPlace(gazetteer, city)
      if (search.kind === 'unknown') return { kind: 'failed', code: 'NO_DATA', message: search.why }
      const { place, alternatives } = search
      const found = await source.ask(place)
      if (found.kind === 'failed') return found
      return {
        kind: 'delivered',
        data: { location: { city: place.name, country: place.country }, current: found.data },
        meta: { ...found.meta, place: { ...place }, alternatives: alternatives.map((other) => ({ ...other })) },
      }
    },
  })
}
