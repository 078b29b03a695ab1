import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { cacheBound } from '../../../sourcing/cacheBound.ts'
import type { Observation, Provider, ProviderDeps } from '../../../sourcing/provider.ts'
import { ofUpstream, openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import { readJson, refuseStatus } from '../../../outbound/upstreamReply.ts'
import {
  type Air,
  coordinate,
  figureIn,
  type ForecastStep,
  isOfAir,
  plausibleAir,
  refuseElsewhere,
  reportOf,
  type WeatherQuery,
  type WeatherReport,
  windOf,
} from './weatherReport.ts'

/*
 * Worldwide forecast of the Norwegian Meteorological Institute. Its terms of use require a User-Agent with a contact,
 * and at most four decimals in a coordinate. The same forecast must not be requested again before `Expires`, and
 * afterwards only with If-Modified-Since.
 */

const publicBase = 'https://api.met.no/weatherapi/locationforecast/2.0'
// The institute allows 20 requests a second for the whole application, over all its instances.
const publicPace = { requests: 5, perSeconds: 1 }

interface StoredForecast {
  readonly steps: readonly Step[]
  readonly lastModified: string | undefined
  readonly fetchedAtMs: number
  readonly expiresAtMs: number
  readonly latitude?: number | undefined
  readonly longitude?: number | undefined
}

interface Step extends Air {
  readonly timeMs: number
  readonly celsius: number | undefined
  readonly humidityPercent: number | undefined
  readonly symbolCode: string | undefined
}

// Maximum of stored forecasts, which take about 10 MB.
const storedMax = 1_000
// Maximum of steps to read. Steps are hourly for two and a half days, and then every six hours up to ten days.
const stepsMax = 120
// Default and maximum lifetime of a stored answer. `Expires` is usually only minutes ahead, so a time that is days
// ahead would be an error.
const expiryDefaultMs = 10 * 60 * 1000
const expiryMaxMs = 2 * 60 * 60 * 1000
// Maximum distance of the nearest step from now. Steps are at most six hours apart, so the nearest step is at most
// three hours away.
const distanceMaxMs = 3 * 60 * 60 * 1000

export function createMetNorway(deps: ProviderDeps): Provider<WeatherQuery, WeatherReport> {
  const { clock, log } = deps
  const upstream = openUpstreamOf(deps, 'MET_NORWAY', { name: 'met-norway', publicBase, pace: publicPace })
  const stored = new LRUCache<string, StoredForecast>(cacheBound(storedMax))
  let isDeprecationSaid = false

  async function steps(query: Pick<WeatherQuery, 'latitude' | 'longitude'>): Promise<StoredForecast> {
    const at = { lat: coordinate(query.latitude), lon: coordinate(query.longitude) }
    const key = `${at.lat},${at.lon}`
    const known = stored.get(key)
    if (known !== undefined && clock.nowMs() < known.expiresAtMs) return known
    const headers = conditionOf(known, clock.nowMs())
    const fetched = await upstream.ask({ path: '/compact', query: at, headers }, (reply) => {
      if (reply.status === 203 && !isDeprecationSaid) {
        isDeprecationSaid = true
        log.warn({ event: 'upstream_deprecated', upstream: 'met-norway' })
      }
      const forecast = readForecast(reply, known, clock.nowMs())
      refuseElsewhere(query, forecast, positionDegreesMax)
      return forecast
    })
    stored.set(key, fetched)
    return fetched
  }

  return {
    ...ofUpstream(upstream),
    hasSeries: true,
    async ask(query) {
      const forecast = await steps(query)
      return observationOf(forecast, query, clock.nowMs())
    },
  }
}

/**
 * Returns the headers of a conditional request. Empty if a full answer is needed, because the stored forecast has no
 * steps left or no modification date.
 */
function conditionOf(known: StoredForecast | undefined, nowMs: number): Readonly<Record<string, string>> {
  const untilMs = known?.steps.at(-1)?.timeMs ?? 0
  return known?.lastModified === undefined || untilMs < nowMs ? {} : { 'if-modified-since': known.lastModified }
}

// Maximum difference between the requested position and the position in the answer, in degrees.
const positionDegreesMax = 0.01

const details = z.object({
  air_temperature: z.number().optional(),
  relative_humidity: z.number().optional(),
  wind_speed: z.number().optional(),
  wind_from_direction: z.number().optional(),
  air_pressure_at_sea_level: z.number().optional(),
  cloud_area_fraction: z.number().optional(),
})
const period = z
  .object({
    summary: z.object({ symbol_code: z.string() }).optional(),
    details: z.object({ precipitation_amount: z.number().optional() }).optional(),
  })
  .optional()
const units = z.object({
  air_temperature: z.literal('celsius'),
  relative_humidity: z.literal('%'),
  wind_speed: z.string().optional(),
  wind_from_direction: z.string().optional(),
  air_pressure_at_sea_level: z.string().optional(),
  cloud_area_fraction: z.string().optional(),
  precipitation_amount: z.string().optional(),
})
const entry = z.object({
  time: z.iso.datetime({ offset: true }),
  data: z.object({
    instant: z.object({ details }),
    next_1_hours: period,
    next_6_hours: period,
    next_12_hours: period,
  }),
})
const forecast = z.object({
  geometry: z.object({ coordinates: z.array(z.number()).min(2) }).optional(),
  properties: z.object({ meta: z.object({ units }), timeseries: z.array(entry).min(1) }),
})

function readForecast(reply: Reply, known: StoredForecast | undefined, nowMs: number): StoredForecast {
  const lastModified = reply.headers.get('last-modified') ?? undefined
  const times = { fetchedAtMs: nowMs, expiresAtMs: expiryOf(reply, nowMs) }
  if (reply.status === 304 && known !== undefined) return { ...known, ...times }
  // The forecast covers the whole globe, so a 404 means a wrong address.
  refuseStatus(reply, 'bad_payload')
  const { geometry, properties } = readJson(reply, forecast)
  const [longitude, latitude] = geometry?.coordinates ?? []
  const steps = properties.timeseries.slice(0, stepsMax).map((one) => stepOf(one, properties.meta.units))
  return { steps, lastModified, latitude, longitude, ...times }
}

function stepOf({ time, data }: z.infer<typeof entry>, unit: z.infer<typeof units>): Step {
  const { details: at } = data.instant
  const next = data.next_1_hours ?? data.next_6_hours ?? data.next_12_hours
  return {
    timeMs: Date.parse(time),
    celsius: at.air_temperature,
    humidityPercent: at.relative_humidity,
    symbolCode: next?.summary?.symbol_code,
    ...plausibleAir({
      windMetersPerSecond: windOf(at.wind_speed, unit.wind_speed),
      windFromDegrees: figureIn(at.wind_from_direction, unit.wind_from_direction === 'degrees'),
      pressureHpa: figureIn(at.air_pressure_at_sea_level, unit.air_pressure_at_sea_level === 'hPa'),
      precipitationMm: figureIn(next?.details?.precipitation_amount, unit.precipitation_amount === 'mm'),
      cloudPercent: figureIn(at.cloud_area_fraction, unit.cloud_area_fraction === '%'),
    }),
  }
}

function expiryOf({ headers }: Reply, nowMs: number): number {
  const expiresAtMs = Date.parse(headers.get('expires') ?? '')
  return Number.isNaN(expiresAtMs) ? nowMs + expiryDefaultMs : Math.min(expiresAtMs, nowMs + expiryMaxMs)
}

function observationOf(
  { steps, fetchedAtMs }: StoredForecast,
  { isForecast }: WeatherQuery,
  nowMs: number,
): Observation<WeatherReport> {
  const distance = (step: Step): number => Math.abs(step.timeMs - nowMs)
  const nearest = steps.reduce((best, step) => (distance(step) < distance(best) ? step : best))
  if (distance(nearest) > distanceMaxMs) throw new UpstreamFailure('incomplete', 'no forecast near the present')
  const { celsius, humidityPercent, symbolCode, timeMs } = nearest
  if (celsius === undefined || humidityPercent === undefined || symbolCode === undefined)
    throw new UpstreamFailure('incomplete', 'the forecast lacks temperature, humidity or sky')
  const description = describeSymbol(symbolCode)
  const ahead = isForecast === true ? forecastOf(steps, timeMs) : undefined
  return {
    data: reportOf({ celsius, humidityPercent, description, air: nearest, steps: ahead }),
    asOfMs: timeMs,
    fetchedAtMs,
    isContinuous: isContinued({ timeMs, celsius, humidityPercent }, steps),
    meta: { kind: 'forecast', attribution: 'Data from MET Norway (CC BY 4.0)' },
  }
}

// Maximum change of the air within two hours. Rare weather fronts exceed it. A second provider must then confirm the
// reading.
const continuous = { withinMs: 2 * 60 * 60 * 1000, celsius: 5, humidityPercent: 40 }

function isContinued(
  now: { readonly [field in 'timeMs' | 'celsius' | 'humidityPercent']: number },
  steps: readonly Step[],
) {
  const near = steps.filter(
    ({ timeMs }) => timeMs !== now.timeMs && Math.abs(timeMs - now.timeMs) <= continuous.withinMs,
  )
  const isNear = ({ celsius = Number.NaN, humidityPercent = Number.NaN }: Step) =>
    Math.abs(celsius - now.celsius) <= continuous.celsius &&
    Math.abs(humidityPercent - now.humidityPercent) <= continuous.humidityPercent
  return near.length > 0 && near.every(isNear)
}

/** Returns the forecast from a time on. Omits the last steps of MET Norway, because they lack sky and precipitation. */
function forecastOf(steps: readonly Step[], fromMs: number): readonly ForecastStep[] {
  return steps.flatMap(({ celsius, symbolCode, ...step }): ForecastStep[] => {
    if (step.timeMs < fromMs || celsius === undefined || symbolCode === undefined) return []
    if (!isOfAir(celsius)) throw new UpstreamFailure('incomplete', 'a temperature that no air has')
    return [{ ...step, celsius, description: describeSymbol(symbolCode) }]
  })
}

const skies: Readonly<Record<string, string>> = {
  clearsky: 'Clear sky',
  fair: 'Fair',
  partlycloudy: 'Partly cloudy',
  cloudy: 'Cloudy',
  fog: 'Fog',
}
const variant = /_(?:day|night|polartwilight)$/
const precipitation = /^(light|heavy)?(rain|sleet|snow)(showers)?(andthunder)?$/

/** Describes a weather symbol. The API misspells `lightssleetshowersandthunder` and its snow variant, for compatibility. */
export function describeSymbol(symbolCode: string): string {
  const base = symbolCode.replace(variant, '').replace(/^lightss/, 'lights')
  const sky = Object.hasOwn(skies, base) ? skies[base] : undefined
  if (sky !== undefined) return sky
  const parts = precipitation.exec(base)
  if (parts === null) throw new UpstreamFailure('bad_payload', 'an undocumented weather symbol')
  const [, strength, what, showers, thunder] = parts
  const words = [strength, what, showers, thunder && 'and thunder'].filter((word) => word !== undefined).join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
