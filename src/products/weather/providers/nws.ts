import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import type { Reply } from '../../../sourcing/upstreamRequest.ts'
import type { Upstream } from '../../../sourcing/upstream.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { baseUrlOf } from '../../../product/upstreamName.ts'
import {
  type Observation,
  paceOf,
  type Provider,
  type ProviderDeps,
  readJson,
  refuseStatus,
} from '../../../sourcing/provider.ts'
import {
  coordinate,
  figureIn,
  plausibleAir,
  refuseElsewhere,
  reportOf,
  type WeatherQuery,
  type WeatherReport,
  windOf,
} from './weatherReport.ts'

/*
 * The National Weather Service: measurements in the United States. A point leads to its stations, the nearest first; a
 * station without a temperature is skipped.
 */

const publicBase = 'https://api.weather.gov'
// The limit is not published. One question takes two to five requests.
const publicPace = { requests: 60, perSeconds: 60 }
const timeoutMs = 3_000
const countries: ReadonlySet<string> = new Set(['US', 'PR', 'VI', 'GU', 'AS', 'MP'])
const stationsMax = 3
// Stations report hourly; one that has been silent for longer is down.
const ageMaxMs = 2 * 60 * 60 * 1000
// The stations of a point practically never change.
const cachedPointsMax = { max: 1_000, ttl: 24 * 60 * 60 * 1000 }

export function createNws({ clock, upstreams, openUpstream }: ProviderDeps): Provider<WeatherQuery, WeatherReport> {
  const upstream = openUpstream({
    name: 'nws',
    base: baseUrlOf(upstreams.NWS, publicBase),
    pace: paceOf(upstreams.NWS, publicPace),
    timeoutMs,
  })
  const stationCache = new LRUCache<string, readonly string[]>(cachedPointsMax)

  async function stationsOf(point: string): Promise<readonly string[]> {
    const known = stationCache.get(point)
    if (known !== undefined) return known
    const path = await upstream.ask({ path: `/points/${point}` }, readPoint)
    const stations = await upstream.ask({ path }, readStations)
    stationCache.set(point, stations)
    return stations
  }

  return {
    name: 'nws',
    pace: upstream.pace,
    whyUnavailable: () => upstream.whyResting(),
    covers,
    async ask(query) {
      const { latitude, longitude } = query
      if (!covers(query)) throw new UpstreamFailure('not_covered', 'nws is for the United States')
      const stations = await stationsOf(`${coordinate(latitude)},${coordinate(longitude)}`)
      return await firstReport({ upstream, clock, query }, stations)
    },
  }
}

/** Stations measure, they do not forecast. */
function covers({ countryCode, isForecast }: WeatherQuery): boolean {
  return countries.has(countryCode) && isForecast !== true
}

interface Asking {
  readonly upstream: Upstream
  readonly clock: Clock
  readonly query: WeatherQuery
}

async function firstReport({ upstream, clock, query }: Asking, stations: readonly string[]) {
  for (const station of stations.slice(0, stationsMax)) {
    const report = await upstream.ask({ path: `/stations/${station}/observations/latest` }, (reply) =>
      readObservation(reply, { station, query }),
    )
    if (report !== undefined && clock.nowMs() - report.asOfMs <= ageMaxMs) return report
  }
  throw new UpstreamFailure('incomplete', 'no station near the point has a current temperature')
}

const point = z.object({ properties: z.object({ observationStations: z.string() }) })
const stationList = z.object({
  features: z.array(z.object({ properties: z.object({ stationIdentifier: z.string() }) })).optional(),
  observationStations: z.array(z.string()).optional(),
})
const quantity = z.object({ unitCode: z.string().optional(), value: z.number().nullable() })
const observation = z.object({
  geometry: z.object({ coordinates: z.array(z.number()).min(2) }).nullish(),
  properties: z.object({
    timestamp: z.iso.datetime({ offset: true }),
    textDescription: z.string().nullish(),
    temperature: quantity,
    relativeHumidity: quantity,
    windSpeed: quantity.optional(),
    windDirection: quantity.optional(),
    seaLevelPressure: quantity.optional(),
    precipitationLastHour: quantity.optional(),
  }),
})
type Properties = z.infer<typeof observation>['properties']

// The nearest stations of a point in Alaska are this far away.
const stationDegreesMax = 2

/** The list of stations is named by a full address; we use its path on the configured host. */
function readPoint(reply: Reply): string {
  refuseUncovered(reply)
  const address = URL.parse(readJson(reply, point).properties.observationStations)
  if (address === null || !/^\/[\w/,.-]+$/.test(address.pathname))
    throw new UpstreamFailure('bad_payload', 'no address of stations')
  return address.pathname
}

function readStations(reply: Reply): readonly string[] {
  refuseUncovered(reply)
  const { features, observationStations = [] } = readJson(reply, stationList)
  const stationIds =
    features?.map(({ properties }) => properties.stationIdentifier) ??
    observationStations.map((address) => address.split('/').at(-1) ?? '')
  const stations = stationIds.filter((station) => /^[A-Z0-9]{3,8}$/i.test(station)).slice(0, stationsMax)
  if (stations.length === 0) throw new UpstreamFailure('not_covered', 'no station near the point')
  return stations
}

/** Undefined: this station has no usable report now. */
function readObservation(
  reply: Reply,
  { station, query }: { readonly station: string; readonly query: WeatherQuery },
): Observation<WeatherReport> | undefined {
  if (reply.status === 404) return undefined
  refuseStatus(reply)
  const { geometry, properties } = readJson(reply, observation)
  const [longitude, latitude] = geometry?.coordinates ?? []
  refuseElsewhere(query, { latitude, longitude }, stationDegreesMax)
  const { timestamp, textDescription, temperature, relativeHumidity } = properties
  const celsius = celsiusOf(temperature)
  const description = textDescription?.trim() ?? ''
  if (celsius === undefined || relativeHumidity.value === null || description === '') return undefined
  return {
    data: reportOf({ celsius, humidityPercent: relativeHumidity.value, description, air: airOf(properties) }),
    asOfMs: Date.parse(timestamp),
    detail: { kind: 'observation', station, attribution: 'National Weather Service' },
  }
}

function airOf({ windSpeed, windDirection, seaLevelPressure, precipitationLastHour }: Properties) {
  const pascals = figureIn(seaLevelPressure?.value, isIn(seaLevelPressure, 'Pa'))
  return plausibleAir({
    windMetersPerSecond: windOf(windSpeed?.value, windSpeed?.unitCode),
    windFromDegrees: figureIn(windDirection?.value, isIn(windDirection, 'degree_(angle)')),
    pressureHpa: pascals === undefined ? undefined : pascals / 100,
    precipitationMm: figureIn(precipitationLastHour?.value, isIn(precipitationLastHour, 'mm')),
  })
}

function isIn(one: z.infer<typeof quantity> | undefined, unit: string): boolean {
  return one?.unitCode === `wmoUnit:${unit}`
}

function celsiusOf({ unitCode, value }: z.infer<typeof quantity>): number | undefined {
  if (value === null) return undefined
  const [, unit] = /^(?:wmoUnit|unit):(degC|degF)$/.exec(unitCode ?? '') ?? []
  if (unit === undefined) throw new UpstreamFailure('bad_payload', 'a temperature in an unknown unit')
  return unit === 'degF' ? ((value - 32) * 5) / 9 : value
}

/** 404 is a point outside the United States, not a city that does not exist. */
function refuseUncovered(reply: Reply): void {
  if (reply.status === 404) throw new UpstreamFailure('not_covered', 'the point is outside of nws')
  refuseStatus(reply)
}
