import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Observation, Provider, ProviderDeps } from '../../../sourcing/provider.ts'
import { ofUpstream, openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import { readJson, refuseStatus } from '../../../outbound/upstreamReply.ts'
import {
  type Air,
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

// Open-Meteo's free plan allows 600 requests a minute, 5,000 an hour and 10,000 a day. The daily limit is the
// strictest: about 7 a minute.
const publicPace = { requests: 7, perSeconds: 60 }
const customerPace = { requests: 600, perSeconds: 60 }

const hosts = { OPEN_METEO: 'api', OPEN_METEO_GEOCODING: 'geocoding-api' } as const

/**
 * Opens an API of Open-Meteo. A customer has one key for all APIs. Requests with a key use other hosts and a faster
 * pace.
 */
export function openOpenMeteo(deps: ProviderDeps, setting: keyof typeof hosts) {
  const apiKey = deps.upstreams.OPEN_METEO?.apiKey
  const upstream = openUpstreamOf(deps, setting, {
    name: setting.toLowerCase().replaceAll('_', '-'),
    publicBase: `https://${apiKey === undefined ? '' : 'customer-'}${hosts[setting]}.open-meteo.com/v1`,
    pace: apiKey === undefined ? publicPace : customerPace,
    pauseMs: limitPauseMs,
  })
  return { upstream, keyField: apiKey === undefined ? {} : { apikey: apiKey } }
}

/** Creates a provider for any place on Earth. Models compute the weather for the grid cell around the place. */
export function createOpenMeteo(deps: ProviderDeps): Provider<WeatherQuery, WeatherReport> {
  const { upstream, keyField } = openOpenMeteo(deps, 'OPEN_METEO')
  return {
    ...ofUpstream(upstream),
    ask(asked) {
      const query = {
        latitude: asked.latitude.toFixed(5),
        longitude: asked.longitude.toFixed(5),
        current: figures,
        ...(asked.isForecast === true ? { hourly: figures, forecast_days: String(forecastDays) } : {}),
        wind_speed_unit: 'ms',
        // Request Unix time, because the default is local time without an offset.
        timeformat: 'unixtime',
        timezone: 'UTC',
        ...keyField,
      }
      return upstream.ask({ path: '/forecast', query }, (reply) => readReport(reply, asked))
    },
  }
}

const figures =
  'temperature_2m,relative_humidity_2m,weather_code,wind_speed_10m,wind_direction_10m,pressure_msl,precipitation,cloud_cover'
// The current day and the seven days after it.
const forecastDays = 8
// Maximum difference between the requested position and the position in the answer. They differ, because the grid cells
// of the coarsest model are a quarter of a degree wide.
const cellDegreesMax = 0.5

const minute = 60 * 1000

/** Returns the pause after a refusal. Reads it from the error text, because the answer has no Retry-After header. */
function limitPauseMs({ text }: Reply): number {
  if (/daily/i.test(text)) return 24 * 60 * minute
  return /hourly/i.test(text) ? 60 * minute : minute
}

const units = z.object({
  temperature_2m: z.literal('°C'),
  relative_humidity_2m: z.literal('%'),
  wind_speed_10m: z.string().optional(),
  wind_direction_10m: z.string().optional(),
  pressure_msl: z.string().optional(),
  precipitation: z.string().optional(),
  cloud_cover: z.string().optional(),
})
const figure = z.number().nullish()
const time = z.union([z.number().int(), z.string()])
const current = z.object({
  time,
  temperature_2m: figure,
  relative_humidity_2m: figure,
  weather_code: figure,
  wind_speed_10m: figure,
  wind_direction_10m: figure,
  pressure_msl: figure,
  precipitation: figure,
  cloud_cover: figure,
})
/** Hourly figures as a table. Each figure is a column, and each hour a row. */
const hourly = z.object({ time: z.array(time).max(24 * 16) }).catchall(z.array(figure))
const forecast = z.object({
  latitude: z.number().optional(),
  longitude: z.number().optional(),
  utc_offset_seconds: z.number().default(0),
  current_units: units,
  current,
  hourly_units: units.optional(),
  hourly: hourly.optional(),
})
type Forecast = z.infer<typeof forecast>

function readReport(reply: Reply, asked: WeatherQuery): Observation<WeatherReport> {
  if (reply.status === 400) throw new UpstreamFailure('bad_payload', 'open-meteo does not understand the question')
  // The forecast covers the whole globe, so a 404 means a wrong address.
  refuseStatus(reply, 'bad_payload')
  const answered = readJson(reply, forecast)
  refuseElsewhere(asked, answered, cellDegreesMax)
  const { current: now, current_units: unit, utc_offset_seconds: offsetSeconds } = answered
  const { temperature_2m: celsius, relative_humidity_2m: humidityPercent } = now
  const description = describeCode(now.weather_code)
  if (typeof celsius !== 'number' || typeof humidityPercent !== 'number' || description === undefined)
    throw new UpstreamFailure('incomplete', 'temperature, humidity or weather code is missing')
  const asOfMs = timeOf(now.time, offsetSeconds)
  const steps = asked.isForecast === true ? stepsOf(answered, asOfMs) : undefined
  return {
    data: reportOf({ celsius, humidityPercent, description, air: airOf(now, unit), steps }),
    asOfMs,
    meta: { kind: 'forecast', attribution: 'Weather data by Open-Meteo.com (CC BY 4.0)' },
  }
}

type Figures = Omit<z.infer<typeof current>, 'time'>

function airOf(at: Figures, unit: z.infer<typeof units>): Air {
  return plausibleAir({
    windMetersPerSecond: windOf(at.wind_speed_10m, unit.wind_speed_10m),
    windFromDegrees: figureIn(at.wind_direction_10m, unit.wind_direction_10m === '°'),
    pressureHpa: figureIn(at.pressure_msl, unit.pressure_msl === 'hPa'),
    precipitationMm: figureIn(at.precipitation, unit.precipitation === 'mm'),
    cloudPercent: figureIn(at.cloud_cover, unit.cloud_cover === '%'),
  })
}

const hourMs = 60 * 60 * 1000

function stepsOf(answered: Forecast, fromMs: number): readonly ForecastStep[] {
  const { hourly: table, hourly_units: unit, utc_offset_seconds: offsetSeconds } = answered
  if (table === undefined || unit === undefined)
    throw new UpstreamFailure('incomplete', 'the hours or their units are missing')
  const { time: times, ...columns } = table
  return times.flatMap((time, row): ForecastStep[] => {
    const timeMs = timeOf(time, offsetSeconds)
    const at = (name: keyof Figures, hour = row) => columns[name]?.[hour]
    const celsius = at('temperature_2m')
    if (timeMs <= fromMs - hourMs || typeof celsius !== 'number') return []
    if (!isOfAir(celsius)) throw new UpstreamFailure('incomplete', 'a temperature that no air has')
    const air = {
      wind_speed_10m: at('wind_speed_10m'),
      wind_direction_10m: at('wind_direction_10m'),
      pressure_msl: at('pressure_msl'),
      // Use the next row, because a row contains the precipitation of the preceding hour. MET Norway's steps contain
      // that of the following hour.
      precipitation: at('precipitation', row + 1),
      cloud_cover: at('cloud_cover'),
    }
    const humidityPercent = at('relative_humidity_2m') ?? undefined
    return [{ timeMs, celsius, humidityPercent, description: describeCode(at('weather_code')), ...airOf(air, unit) }]
  })
}

function describeCode(code: number | null | undefined): string | undefined {
  return code === undefined || code === null ? undefined : weatherCodes[code]
}

/**
 * Returns a time in milliseconds since 1970. Unix time is unambiguous. A text is local time at the place, so it must
 * not be read in the time zone of this machine.
 */
function timeOf(time: number | string, offsetSeconds: number): number {
  if (typeof time === 'number') return time * 1000
  const localMs = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/.test(time) ? Date.parse(`${time}Z`) : Number.NaN
  if (Number.isNaN(localMs)) throw new UpstreamFailure('bad_payload', 'a time that cannot be read')
  return localMs - offsetSeconds * 1000
}

/** Descriptions of the codes of WMO table 4677 that Open-Meteo uses. */
const weatherCodes: Readonly<Record<number, string>> = {
  0: 'Clear sky',
  1: 'Mainly clear',
  2: 'Partly cloudy',
  3: 'Overcast',
  45: 'Fog',
  48: 'Depositing rime fog',
  51: 'Light drizzle',
  53: 'Moderate drizzle',
  55: 'Dense drizzle',
  56: 'Light freezing drizzle',
  57: 'Dense freezing drizzle',
  61: 'Slight rain',
  63: 'Moderate rain',
  65: 'Heavy rain',
  66: 'Light freezing rain',
  67: 'Heavy freezing rain',
  71: 'Slight snow fall',
  73: 'Moderate snow fall',
  75: 'Heavy snow fall',
  77: 'Snow grains',
  80: 'Slight rain showers',
  81: 'Moderate rain showers',
  82: 'Violent rain showers',
  85: 'Slight snow showers',
  86: 'Heavy snow showers',
  95: 'Thunderstorm',
  96: 'Thunderstorm with slight hail',
  99: 'Thunderstorm with heavy hail',
}
