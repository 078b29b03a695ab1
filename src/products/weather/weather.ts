import { assert } from '@tollbook/core/assert'
import { createLastKnown } from '../../sourcing/agreement/lastKnown.ts'
import { findPlace, type FoundPlace, placeNear, type PlaceQuery } from './places/findPlace.ts'
import { type Gazetteer, openGazetteer } from './places/gazetteer.ts'
import { defineProduct, type ProductHandler } from '../../product/productDefinition.ts'
import type { DemoCaller } from '../../product/productFacts.ts'
import { createMetNorway } from './providers/metNorway.ts'
import { createOpenMeteo } from './providers/openMeteo.ts'
import { createOpenMeteoGeocoding } from './providers/openMeteoGeocoding.ts'
import type { ProviderDeps } from '../../sourcing/provider.ts'
import { geoNamesCredit } from '../../product/providerTerms.ts'
import { withFigures, weatherAgreement } from './providers/weatherAgreement.ts'
import { coordinate, type WeatherQuery, type WeatherReport } from './providers/weatherReport.ts'
import { createSource, type AnswerSource } from '../../sourcing/source.ts'
import { failureOfCode } from '../../sourcing/sourceFailure.ts'
import { type WeatherData, weatherAnswer, weatherDataOf } from './weatherAnswer.ts'
import { type WeatherOrder, weatherParameters } from './weatherParameters.ts'

export const weather = defineProduct({
  path: '/api/data/weather',
  method: 'GET',
  summary: 'Current weather in a city or at a position, with a forecast on request',
  priceMicroUsd: 10_000n,
  parameters: weatherParameters,
  answer: weatherAnswer,
  example: {
    order: { city: 'Berlin' },
    answer: {
      location: { city: 'Berlin', country: 'Germany' },
      current: { temperature: { celsius: 7.4, fahrenheit: 45.3 }, humidity: 81, description: 'Light rain' },
    },
  },
  providers: ['MET_NORWAY', 'OPEN_METEO', 'OPEN_METEO_GEOCODING'],
  demo: { order: () => ({ city: 'London' }), check: checkDemo },
  open: openWeather,
})

/**
 * Places for probes. There are several, because MET Norway must not be queried for the same place again before
 * `Expires`.
 */
const knownPlaces: readonly [WeatherQuery, ...WeatherQuery[]] = [
  { latitude: 40.7143, longitude: -74.006 },
  { latitude: 41.85, longitude: -87.65 },
  { latitude: 34.0522, longitude: -118.2437 },
  { latitude: 39.7392, longitude: -104.9847 },
]

const minute = 60 * 1000
const day = 24 * 60 * minute
const lastKnownMs = 180 * minute
const what = 'weather report'

function openWeather(deps: ProviderDeps): ProductHandler<WeatherOrder> {
  const gazetteer = openGazetteer()
  const geocoding = createGeocoding(deps)
  const source = createSource<WeatherQuery, WeatherReport>(deps, {
    what,
    providers: [createMetNorway(deps), createOpenMeteo(deps)].map((one) => withFigures(deps.clock, one)),
    agreement: { ...weatherAgreement, keyOf: positionOf, lastKnown: createLastKnown(deps.clock, lastKnownMs) },
    keyOf: (query) => `${positionOf(query)}${query.isForecast === true ? ' forecast' : ''}`,
    known: knownPlaces,
    // Every position on Earth has weather, so every query is answerable.
    isListed: () => true,
    credits: [geoNamesCredit],
    freshMs: 10 * minute,
    staleMs: 170 * minute,
    ageMaxMs: 180 * minute,
    // The forecast step that is nearest to now may be up to three hours in the future.
    aheadMaxMs: 180 * minute,
  })
  return {
    probes: [source.liveness, geocoding.liveness],
    providersAnswer: () => source.liveness.someAnswer(),
    whyUnavailable(asked, buyer) {
      if (asked === undefined) return source.whyUnavailable()
      const search = findOrdered(gazetteer, asked)
      if (search.kind !== 'unlisted') return source.whyUnavailable(queryOf(asked, search.place), buyer)
      // Skip a place that is known to be missing, because `whyNoData` reports NO_DATA for it, even while every provider
      // is down.
      return geocoding.isKnownMissing(search.query)
        ? undefined
        : (geocoding.whyUnavailable(search.query, buyer) ?? source.whyUnavailable())
    },
    whyNoData(asked) {
      const search = findOrdered(gazetteer, asked)
      return search.kind === 'unlisted' && geocoding.isKnownMissing(search.query) ? search.why : undefined
    },
    async deliver(order, { payer }) {
      const located = await locate({ gazetteer, geocoding, buyer: payer }, order)
      if (located.kind === 'failed') return located
      const { place, alternatives, placeSource } = located
      const found = await source.ask(queryOf(order, place), payer)
      if (found.kind === 'failed') return found
      const data = weatherDataOf(order, place, found.data)
      // Do not sell an ordered forecast without a single hour or day.
      if (data.hourly?.length === 0 || data.daily?.length === 0) return failureOfCode({ what }, 'UPSTREAM_FAILED')
      return {
        kind: 'delivered',
        data,
        meta: {
          ...found.meta,
          place: { ...place, source: placeSource },
          alternatives: alternatives.map((other) => ({ ...other })),
        },
      }
    },
  }
}

function positionOf({ latitude, longitude }: WeatherQuery): string {
  return `${coordinate(latitude)},${coordinate(longitude)}`
}

function queryOf({ latitude, longitude, hours, days }: WeatherOrder, place: WeatherQuery): WeatherQuery {
  return {
    latitude: latitude ?? place.latitude,
    longitude: longitude ?? place.longitude,
    ...(hours === undefined && days === undefined ? {} : { isForecast: true }),
  }
}

/** Finds the ordered place. An order with a position needs no search by name. */
function findOrdered(gazetteer: Gazetteer, { city, latitude, longitude }: WeatherOrder) {
  if (city !== undefined) return findPlace(gazetteer, city)
  assert(latitude !== undefined && longitude !== undefined, 'an order has a city or a position')
  return { kind: 'position', place: { latitude, longitude } } as const
}

function checkDemo({ location, current }: WeatherData, { expect }: DemoCaller): string {
  const { celsius, fahrenheit } = current.temperature
  const { humidity, description } = current
  expect(location.city === 'London' && location.country === 'United Kingdom', 'London is in the United Kingdom')
  expect(celsius > -40 && celsius < 50 && humidity >= 0 && humidity <= 100, 'the figures are of this planet')
  // Both temperatures are computed from the same figure and rounded to a tenth, so they may differ by less than 0.2.
  expect(Math.abs((celsius * 9) / 5 + 32 - fahrenheit) < 0.2, `${celsius} °C are ${fahrenheit} °F`)
  return `${location.city}, ${location.country}: ${celsius} °C, ${fahrenheit} °F, humidity ${humidity} %, ${description}`
}

type Geocoding = AnswerSource<PlaceQuery, FoundPlace>

/**
 * Creates a source of positions of places outside the local list. An answer is fresh for a day, because places do not
 * move.
 */
function createGeocoding(deps: ProviderDeps): Geocoding {
  return createSource<PlaceQuery, FoundPlace>(deps, {
    what: 'the position of a city',
    providers: [createOpenMeteoGeocoding(deps)],
    // Change only the case in the key, because the geocoder distinguishes spellings that our list treats as equal.
    keyOf: ({ name, qualifiers }) => [name, ...qualifiers].join(',').toLowerCase(),
    known: [{ name: 'Hallstatt', qualifiers: [] }],
    // Treat every place as listed. No place here is in a list, so a share that is reserved for listed items would stay
    // unused.
    isListed: () => true,
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

async function locate({ gazetteer, geocoding, buyer }: Atlas, order: WeatherOrder) {
  const search = findOrdered(gazetteer, order)
  if (search.kind === 'position')
    return {
      kind: 'found',
      place: placeNear(gazetteer, search.place),
      alternatives: [],
      placeSource: 'geonames',
    } as const
  if (search.kind === 'found') return { ...search, placeSource: 'geonames' }
  const found = await geocoding.ask(search.query, buyer)
  if (found.kind === 'failed') return found.code === 'NO_DATA' ? { ...found, message: search.why } : found
  return { kind: found.kind, ...found.data, placeSource: found.meta.source }
}
