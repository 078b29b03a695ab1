import { z } from 'zod'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { findPlace, type FoundPlace, type PlaceQuery } from './places/findPlace.ts'
import { type Gazetteer, openGazetteer } from './places/gazetteer.ts'
import { createMetNorway } from './providers/metNorway.ts'
import { createNws } from './providers/nws.ts'
import { createOpenMeteo } from './providers/openMeteo.ts'
import { createOpenMeteoGeocoding } from './providers/openMeteoGeocoding.ts'
import type { ProviderDeps } from './providers/provider.ts'
import { coordinate, type WeatherQuery, type WeatherReport } from './providers/weatherReport.ts'
import { createSource, type Source } from './source.ts'
import { characterCount, text } from './text.ts'

const city = text({
  expected: "a city name: 1 to 100 letters, marks, digits, spaces and . , ' ( ) -",
  // No pattern: readers of JSON Schema do not agree on \p{L}, and Swagger UI would refuse every city.
  shown: { minLength: 1, maxLength: 100 },
  test: (value) =>
    /^[\p{L}\p{M}\p{Nd} .,'()-]+$/u.test(value) && /[\p{L}\p{Nd}]/u.test(value) && characterCount(value) <= 100,
})

const minute = 60 * 1000
const day = 24 * 60 * minute

export function createWeather(deps: ProviderDeps): Endpoint {
  const gazetteer = openGazetteer()
  const geocoding = createGeocoding(deps)
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
    whyUnavailable(asked) {
      if (asked === undefined) return source.whyUnavailable()
      const search = findPlace(gazetteer, asked.city)
      if (search.kind === 'found') return source.whyUnavailable(search.place)
      // What is known to be missing is said to be, whoever is down.
      return geocoding.isKnownMissing(search.query)
        ? undefined
        : (geocoding.whyUnavailable(search.query) ?? source.whyUnavailable())
    },
    whyNoData({ city }) {
      const search = findPlace(gazetteer, city)
      return search.kind === 'unlisted' && geocoding.isKnownMissing(search.query) ? search.why : undefined
    },
    async handle({ city }) {
      const located = await locate({ gazetteer, geocoding }, city)
      if (located.kind === 'failed') return located
      const { place, alternatives, placeSource } = located
      const found = await source.ask(place)
      if (found.kind === 'failed') return found
      return {
        kind: 'delivered',
        data: { location: { city: place.name, country: place.country }, current: found.data },
        meta: {
          ...found.meta,
          place: { ...place, source: placeSource },
          alternatives: alternatives.map((other) => ({ ...other })),
        },
      }
    },
  })
}

type Geocoding = Source<PlaceQuery, FoundPlace>

/** Where places are that the local list does not have. They do not move, so that each is asked for once a day. */
function createGeocoding(deps: ProviderDeps): Geocoding {
  return createSource<PlaceQuery, FoundPlace>(deps, {
    what: 'the position of a city',
    providers: [createOpenMeteoGeocoding(deps)],
    // Not folded further: the geocoder takes more spellings for different names than we do.
    keyOf: ({ name, qualifiers }) => [name, ...qualifiers].join(',').toLowerCase(),
    freshMs: day,
    staleMs: 6 * day,
    ageMaxMs: minute,
  })
}

interface Atlas {
  readonly gazetteer: Gazetteer
  readonly geocoding: Geocoding
}

async function locate({ gazetteer, geocoding }: Atlas, city: string) {
  const search = findPlace(gazetteer, city)
  if (search.kind === 'found') return { ...search, placeSource: 'geonames' }
  const found = await geocoding.ask(search.query)
  if (found.kind === 'failed') return found.code === 'NO_DATA' ? { ...found, message: search.why } : found
  return { kind: found.kind, ...found.data, placeSource: found.meta.source }
}
