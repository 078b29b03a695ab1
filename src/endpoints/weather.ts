import { z } from 'zod'
import { findPlace, type FoundPlace, type PlaceQuery } from './places/findPlace.ts'
import { type Gazetteer, openGazetteer } from './places/gazetteer.ts'
import { defineProduct, type ProductHandler } from './productDefinition.ts'
import type { DemoBuyer } from './productFacts.ts'
import { createMetNorway } from './providers/metNorway.ts'
import { createNws } from './providers/nws.ts'
import { createOpenMeteo } from './providers/openMeteo.ts'
import { createOpenMeteoGeocoding } from './providers/openMeteoGeocoding.ts'
import type { ProviderDeps } from './providers/provider.ts'
import { coordinate, type WeatherQuery, type WeatherReport } from './providers/weatherReport.ts'
import { createSource, type AnswerSource } from './source.ts'
import { characterCount, text } from './text.ts'

const city = text({
  expected: 'a city name: 1 to 100 letters, marks, digits, spaces, apostrophes, dashes and . , ( ) /',
  // No pattern: readers of JSON Schema disagree about \p{L}, and a form made from it would refuse every city.
  shown: { minLength: 1, maxLength: 100 },
  test: (value) =>
    /^[\p{L}\p{M}\p{Nd}\p{Zs}\p{Pd}.,'’‘`´′/()]+$/u.test(value) &&
    /[\p{L}\p{Nd}]/u.test(value) &&
    characterCount(value) <= 100,
})
const parameters = z.strictObject({ city })

const answer = z.object({
  location: z.object({ city: z.string(), country: z.string() }),
  current: z.object({
    temperature: z.object({ celsius: z.number(), fahrenheit: z.number() }),
    humidity: z.number().meta({ description: 'per cent' }),
    description: z.string().meta({ description: 'conditions, in words' }),
  }),
})

export const weather = defineProduct({
  path: '/api/data/weather',
  method: 'GET',
  summary: 'Current weather in a city',
  priceMicroUsd: 10_000n,
  parameters,
  answer,
  example: {
    order: { city: 'Berlin' },
    answer: {
      location: { city: 'Berlin', country: 'Germany' },
      current: { temperature: { celsius: 7.4, fahrenheit: 45.3 }, humidity: 81, description: 'Light rain' },
    },
  },
  providers: ['MET_NORWAY', 'OPEN_METEO', 'NWS', 'OPEN_METEO_GEOCODING'],
  demo: { order: () => ({ city: 'London' }), check: checkDemo },
  open: openWeather,
})

/** In the United States, which all providers cover. Several, because MET Norway is not asked twice within its `Expires`. */
const knownPlaces: readonly [WeatherQuery, ...WeatherQuery[]] = [
  { countryCode: 'US', latitude: 40.7143, longitude: -74.006 },
  { countryCode: 'US', latitude: 41.85, longitude: -87.65 },
  { countryCode: 'US', latitude: 34.0522, longitude: -118.2437 },
  { countryCode: 'US', latitude: 39.7392, longitude: -104.9847 },
]

const minute = 60 * 1000
const day = 24 * 60 * minute

function openWeather(deps: ProviderDeps): ProductHandler<z.infer<typeof parameters>> {
  const gazetteer = openGazetteer()
  const geocoding = createGeocoding(deps)
  const source = createSource<WeatherQuery, WeatherReport>(deps, {
    what: 'weather report',
    providers: [createMetNorway(deps), createOpenMeteo(deps), createNws(deps)],
    keyOf: ({ latitude, longitude }) => `${coordinate(latitude)},${coordinate(longitude)}`,
    known: knownPlaces,
    freshMs: 10 * minute,
    staleMs: 170 * minute,
    ageMaxMs: 180 * minute,
    // The step of a forecast nearest to now may lie ahead.
    aheadMaxMs: 180 * minute,
  })
  return {
    probes: [source.liveness, geocoding.liveness],
    providersAnswer: () => source.liveness.someAnswer(),
    whyUnavailable(asked, buyer) {
      if (asked === undefined) return source.whyUnavailable()
      const search = findPlace(gazetteer, asked.city)
      if (search.kind === 'found') return source.whyUnavailable(search.place)
      // A place that is known not to exist is answered with NO_DATA, even while every provider is down.
      return geocoding.isKnownMissing(search.query)
        ? undefined
        : (geocoding.whyUnavailable(search.query, buyer) ?? source.whyUnavailable())
    },
    whyNoData({ city }) {
      const search = findPlace(gazetteer, city)
      return search.kind === 'unlisted' && geocoding.isKnownMissing(search.query) ? search.why : undefined
    },
    async deliver({ city }, { payer }) {
      const located = await locate({ gazetteer, geocoding, buyer: payer }, city)
      if (located.kind === 'failed') return located
      const { place, alternatives, placeSource } = located
      const found = await source.ask(place, payer)
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
  }
}

function checkDemo({ location, current }: z.infer<typeof answer>, { expect }: DemoBuyer): string {
  const { celsius, fahrenheit } = current.temperature
  const { humidity, description } = current
  expect(location.city === 'London' && location.country === 'United Kingdom', 'London is in the United Kingdom')
  expect(celsius > -40 && celsius < 50 && humidity >= 0 && humidity <= 100, 'the figures are of this planet')
  // Both temperatures are rounded to a tenth from the same figure.
  expect(Math.abs((celsius * 9) / 5 + 32 - fahrenheit) < 0.2, `${celsius} °C are ${fahrenheit} °F`)
  return `${location.city}, ${location.country}: ${celsius} °C, ${fahrenheit} °F, humidity ${humidity} %, ${description}`
}

type Geocoding = AnswerSource<PlaceQuery, FoundPlace>

/** Positions of places outside the local list. Places do not move, so each is asked for once a day. */
function createGeocoding(deps: ProviderDeps): Geocoding {
  return createSource<PlaceQuery, FoundPlace>(deps, {
    what: 'the position of a city',
    providers: [createOpenMeteoGeocoding(deps)],
    // Names are not folded further: the geocoder distinguishes spellings that our list treats as one.
    keyOf: ({ name, qualifiers }) => [name, ...qualifiers].join(',').toLowerCase(),
    known: [{ name: 'Hallstatt', qualifiers: [] }],
    freshMs: day,
    staleMs: 6 * day,
    ageMaxMs: minute,
  })
}

interface Atlas {
  readonly gazetteer: Gazetteer
  readonly geocoding: Geocoding
  readonly buyer: string | undefined
}

async function locate({ gazetteer, geocoding, buyer }: Atlas, city: string) {
  const search = findPlace(gazetteer, city)
  if (search.kind === 'found') return { ...search, placeSource: 'geonames' }
  const found = await geocoding.ask(search.query, buyer)
  if (found.kind === 'failed') return found.code === 'NO_DATA' ? { ...found, message: search.why } : found
  return { kind: found.kind, ...found.data, placeSource: found.meta.source }
}
