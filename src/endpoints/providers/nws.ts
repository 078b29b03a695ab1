import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import type { Reply, Upstream } from '../../outbound/upstream.ts'
import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import { baseUrlOf } from '../../outbound/upstreamName.ts'
import { type Observation, paceOf, type Provider, type ProviderDeps, readJson, refuseStatus } from './provider.ts'
import { coordinate, reportOf, type WeatherQuery, type WeatherReport } from './weatherReport.ts'

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
    whyUnavailable: () => upstream.whyResting(),
    covers: ({ countryCode }) => countries.has(countryCode),
    async ask({ countryCode, latitude, longitude }) {
      if (!countries.has(countryCode)) throw new UpstreamFailure('not_covered', 'nws is for the United States')
      const stations = await stationsOf(`${coordinate(latitude)},${coordinate(longitude)}`)
      return await firstReport({ upstream, clock }, stations)
    },
  }
}

interface Asking {
  readonly upstream: Upstream
  readonly clock: Clock
}

async function firstReport({ upstream, clock }: Asking, stations: readonly string[]) {
  for (const station of stations.slice(0, stationsMax)) {
    const report = await upstream.ask({ path: `/stations/${station}/observations/latest` }, (reply) =>
      readObservation(reply, station),
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
  properties: z.object({
    timestamp: z.iso.datetime({ offset: true }),
    textDescription: z.string().nullish(),
    temperature: quantity,
    relativeHumidity: quantity,
  }),
})

/** The list of stations is named by a full address; we use its path on the configured host. */
function readPoint(reply: Reply): string {
  refuseElsewhere(reply)
  const address = URL.parse(readJson(reply, point).properties.observationStations)
  if (address === null || !/^\/[\w/,.-]+$/.test(address.pathname))
    throw new UpstreamFailure('bad_payload', 'no address of stations')
  return address.pathname
}

function readStations(reply: Reply): readonly string[] {
  refuseElsewhere(reply)
  const { features, observationStations = [] } = readJson(reply, stationList)
  const stationIds =
    features?.map(({ properties }) => properties.stationIdentifier) ??
    observationStations.map((address) => address.split('/').at(-1) ?? '')
  const stations = stationIds.filter((station) => /^[A-Z0-9]{3,8}$/i.test(station)).slice(0, stationsMax)
  if (stations.length === 0) throw new UpstreamFailure('not_covered', 'no station near the point')
  return stations
}

/** Undefined: this station has no usable report now. */
function readObservation(reply: Reply, station: string): Observation<WeatherReport> | undefined {
  if (reply.status === 404) return undefined
  refuseStatus(reply)
  const { timestamp, textDescription, temperature, relativeHumidity } = readJson(reply, observation).properties
  const celsius = celsiusOf(temperature)
  const description = textDescription?.trim() ?? ''
  if (celsius === undefined || relativeHumidity.value === null || description === '') return undefined
  return {
    data: reportOf({ celsius, humidityPercent: relativeHumidity.value, description }),
    asOfMs: Date.parse(timestamp),
    detail: { kind: 'observation', station, attribution: 'National Weather Service' },
  }
}

function celsiusOf({ unitCode, value }: z.infer<typeof quantity>): number | undefined {
  if (value === null) return undefined
  const [, unit] = /^(?:wmoUnit|unit):(degC|degF)$/.exec(unitCode ?? '') ?? []
  if (unit === undefined) throw new UpstreamFailure('bad_payload', 'a temperature in an unknown unit')
  return unit === 'degF' ? ((value - 32) * 5) / 9 : value
}

/** 404 is a point outside the United States, not a city that does not exist. */
function refuseElsewhere(reply: Reply): void {
  if (reply.status === 404) throw new UpstreamFailure('not_covered', 'the point is outside of nws')
  refuseStatus(reply)
}
