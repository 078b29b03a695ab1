import { z } from 'zod'
import type { Reply } from '../../outbound/upstream.ts'
import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import { baseUrlOf } from '../../outbound/upstreamName.ts'
import { type Observation, paceOf, type Provider, type ProviderDeps, readJson, refuseStatus } from './provider.ts'
import { reportOf, type WeatherQuery, type WeatherReport } from './weatherReport.ts'

const publicBase = 'https://api.open-meteo.com/v1'
const customerBase = 'https://customer-api.open-meteo.com/v1'
// 600 a minute, 5,000 an hour and 10,000 a day are free. The daily limit is the narrowest: 7 a minute.
export const publicPace = { requests: 7, perSeconds: 60 }
export const customerPace = { requests: 600, perSeconds: 60 }

export function createOpenMeteo({ upstreams, openUpstream }: ProviderDeps): Provider<WeatherQuery, WeatherReport> {
  const setting = upstreams.OPEN_METEO
  const apiKey = setting?.apiKey
  const upstream = openUpstream({
    name: 'open-meteo',
    base: baseUrlOf(setting, apiKey === undefined ? publicBase : customerBase),
    pace: paceOf(setting, apiKey === undefined ? publicPace : customerPace),
    pauseMs: limitPauseMs,
  })
  return {
    name: 'open-meteo',
    whyUnavailable: () => upstream.whyResting(),
    ask({ latitude, longitude }) {
      const query = {
        latitude: latitude.toFixed(5),
        longitude: longitude.toFixed(5),
        current: 'temperature_2m,relative_humidity_2m,weather_code',
        // The default is local time without an offset.
        timeformat: 'unixtime',
        timezone: 'UTC',
        ...(apiKey === undefined ? {} : { apikey: apiKey }),
      }
      return upstream.ask({ path: '/forecast', query }, readCurrent)
    },
  }
}

const minute = 60 * 1000

/** Rate limits have no Retry-After; the text names the span. */
export function limitPauseMs({ text }: Reply): number {
  if (/daily/i.test(text)) return 24 * 60 * minute
  return /hourly/i.test(text) ? 60 * minute : minute
}

const forecast = z.object({
  utc_offset_seconds: z.number().default(0),
  current_units: z.object({ temperature_2m: z.literal('°C'), relative_humidity_2m: z.literal('%') }),
  current: z.object({
    time: z.union([z.number().int(), z.string()]),
    temperature_2m: z.number().nullish(),
    relative_humidity_2m: z.number().nullish(),
    weather_code: z.number().nullish(),
  }),
})

function readCurrent(reply: Reply): Observation<WeatherReport> {
  if (reply.status === 400) throw new UpstreamFailure('bad_payload', 'open-meteo does not understand the question')
  // The model covers the globe, so a 404 is not about the place.
  refuseStatus(reply, 'bad_payload')
  const { current, utc_offset_seconds: offsetSeconds } = readJson(reply, forecast)
  const { temperature_2m: celsius, relative_humidity_2m: humidityPercent, weather_code: code } = current
  const description = code === undefined || code === null ? undefined : weatherCodes[code]
  if (typeof celsius !== 'number' || typeof humidityPercent !== 'number' || description === undefined)
    throw new UpstreamFailure('incomplete', 'temperature, humidity or weather code is missing')
  return {
    data: reportOf({ celsius, humidityPercent, description }),
    asOfMs: timeOf(current.time, offsetSeconds),
    detail: { kind: 'forecast', attribution: 'Weather data by Open-Meteo.com (CC BY 4.0)' },
  }
}

/** Unix time is unambiguous. Text would be local to the zone of the place and must not be read as local to this machine. */
function timeOf(time: number | string, offsetSeconds: number): number {
  if (typeof time === 'number') return time * 1000
  const localMs = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/.test(time) ? Date.parse(`${time}Z`) : Number.NaN
  if (Number.isNaN(localMs)) throw new UpstreamFailure('bad_payload', 'a time that cannot be read')
  return localMs - offsetSeconds * 1000
}

/** WMO code table 4677, as Open-Meteo uses it. */
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
