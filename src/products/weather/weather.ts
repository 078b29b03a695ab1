import { assert } from '@tollbook/core/assert'
import { createLastKnown } from '../../sourcing/agreement/lastKnown.ts'
import { findPlace, placeNear } from './places/findPlace.ts'
import { type Gazetteer, openGazetteer } from './places/gazetteer.ts'
import { defineProduct, type ProductHandler } from '../../product/productDefinition.ts'
import type { DemoCaller } from '../../product/productFacts.ts'
import { createMetNorway } from './providers/metNorway.ts'
import { createOpenMeteo } from './providers/openMeteo.ts'
import type { ProviderDeps } from '../../sourcing/provider.ts'
import { geoNamesCredit } from '../../sourcing/providerTerms.ts'
import { weatherAgreement } from './providers/weatherAgreement.ts'
import { coordinate, type WeatherQuery, type WeatherReport } from './providers/weatherReport.ts'
import { createSource } from '../../sourcing/source.ts'
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
  providers: ['MET_NORWAY', 'OPEN_METEO'],
  demo: { order: () => ({ city: 'London' }), check: checkDemo },
  open: openWeather,
})

/** Several places, because MET Norway must not be queried again for one place before its `Expires`. */
const knownPlaces: readonly [WeatherQuery, ...WeatherQuery[]] = [
  { latitude: 40.7143, longitude: -74.006 },
  { latitude: 41.85, longitude: -87.65 },
  { latitude: 34.0522, longitude: -118.2437 },
  { latitude: 39.7392, longitude: -104.9847 },
]

const minute = 60 * 1000
const lastKnownMs = 180 * minute

function openWeather(deps: ProviderDeps): ProductHandler<WeatherOrder> {
  const gazetteer = openGazetteer()
  const source = createSource<WeatherQuery, WeatherReport>(deps, {
    what: 'weather report',
    providers: [createMetNorway(deps), createOpenMeteo(deps)],
    agreement: { ...weatherAgreement, keyOf: positionOf, lastKnown: createLastKnown(deps.clock, lastKnownMs) },
    keyOf: (query) => `${positionOf(query)}${query.isForecast === true ? ' forecast' : ''}`,
    known: knownPlaces,
    // Every position on Earth has weather.
    isListed: () => true,
    credits: [geoNamesCredit],
    freshMs: 10 * minute,
    staleMs: 170 * minute,
    ageMaxMs: 180 * minute,
    // The forecast step nearest to now may be in the future.
    aheadMaxMs: 180 * minute,
  })
  return {
    probes: [source.liveness],
    providersAnswer: () => source.liveness.someAnswer(),
    whyUnavailable(asked) {
      if (asked === undefined) return source.whyUnavailable()
      const search = findOrdered(gazetteer, asked)
      // Report a city that is not in the list as NO_DATA, even while every provider is down.
      return search.kind === 'unlisted' ? undefined : source.whyUnavailable(queryOf(asked, search.place))
    },
    whyNoData(asked) {
      const search = findOrdered(gazetteer, asked)
      return search.kind === 'unlisted' ? search.why : undefined
    },
    async deliver(order, { payer }) {
      const search = findOrdered(gazetteer, order)
      if (search.kind === 'unlisted') return { kind: 'failed', code: 'NO_DATA', message: search.why }
      const found = await source.ask(queryOf(order, search.place), payer)
      if (found.kind === 'failed') return found
      const { place, alternatives } =
        search.kind === 'found' ? search : { place: placeNear(gazetteer, search.place), alternatives: [] }
      return {
        kind: 'delivered',
        data: weatherDataOf(order, place, found.data),
        meta: {
          ...found.meta,
          place: { ...place, source: 'geonames' },
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

/** Returns the place of an order. A position needs no search, because its weather does not depend on a name. */
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
  // Both temperatures are computed from one figure and rounded to a tenth.
  expect(Math.abs((celsius * 9) / 5 + 32 - fahrenheit) < 0.2, `${celsius} °C are ${fahrenheit} °F`)
  return `${location.city}, ${location.country}: ${celsius} °C, ${fahrenheit} °F, humidity ${humidity} %, ${description}`
}
