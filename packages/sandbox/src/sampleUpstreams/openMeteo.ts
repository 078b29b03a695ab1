import { isoTime } from '@tollbook/core/clock'
import { weatherAt } from './climate.ts'
import { rounded } from './drift.ts'
import { json, listOf, type SampleProvider, type SampleReply } from './sampleProvider.ts'

/** `/v1/forecast?current=…`. Times have no offset unless `timeformat=unixtime` is asked for, as with the true one. */
export const openMeteo: SampleProvider = ({ path, query, nowMs }) => {
  if (path !== '/v1/forecast') return json({ error: true, reason: 'Not Found' }, 404)
  const [latitude, longitude] = [readNumber(query, 'latitude'), readNumber(query, 'longitude')]
  if (latitude === undefined || Math.abs(latitude) > 90)
    return refused(`Latitude must be in range of -90 to 90°. Given: ${query.get('latitude')}.`)
  if (longitude === undefined || Math.abs(longitude) > 180)
    return refused(`Longitude must be in range of -180 to 180°. Given: ${query.get('longitude')}.`)
  const figures: Figures = currentOf({ latitude, longitude }, nowMs)
  const wanted = listOf(query, 'current')
  const unknown = wanted.find((name) => !(name in figures))
  if (unknown !== undefined)
    return refused(
      `Data corrupted at path ''. Cannot initialize current variable from invalid String value ${unknown}.`,
    )
  const isUnix = query.get('timeformat') === 'unixtime'
  const startMs = nowMs - (nowMs % intervalMs)
  return json({
    // Of the cell of its grid, and not what was asked for.
    latitude: rounded(Math.round(latitude * 8) / 8, 6),
    longitude: rounded(Math.round(longitude * 8) / 8, 6),
    generationtime_ms: 0.07,
    utc_offset_seconds: 0,
    timezone: query.get('timezone') ?? 'GMT',
    timezone_abbreviation: query.get('timezone') ?? 'GMT',
    elevation: 25,
    current_units: {
      time: isUnix ? 'unixtime' : 'iso8601',
      interval: 'seconds',
      ...Object.fromEntries(wanted.map((name) => [name, units[name] ?? ''])),
    },
    current: {
      time: isUnix ? startMs / 1000 : isoTime(startMs).slice(0, 16),
      interval: intervalMs / 1000,
      ...Object.fromEntries(wanted.map((name) => [name, figures[name]])),
    },
  })
}

const intervalMs = 15 * 60 * 1000

type Figures = Readonly<Record<string, number>>

const units: Readonly<Record<string, string>> = {
  temperature_2m: '°C',
  relative_humidity_2m: '%',
  apparent_temperature: '°C',
  is_day: '',
  precipitation: 'mm',
  weather_code: 'wmo code',
  wind_speed_10m: 'km/h',
  wind_direction_10m: '°',
}

function currentOf(place: { readonly latitude: number; readonly longitude: number }, nowMs: number): Figures {
  const weather = weatherAt(place, nowMs)
  return {
    temperature_2m: weather.celsius,
    relative_humidity_2m: Math.round(weather.humidityPercent),
    apparent_temperature: rounded(weather.celsius - 1.5, 1),
    is_day: weather.isDay ? 1 : 0,
    precipitation: weather.sky.rainMm,
    weather_code: weather.sky.wmoCode,
    wind_speed_10m: rounded(weather.windMetersPerSecond * 3.6, 1),
    wind_direction_10m: Math.round(weather.windFromDegrees),
  }
}

function readNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? ''
  return /^-?\d{1,3}(\.\d+)?$/.test(text) ? Number(text) : undefined
}

function refused(reason: string): SampleReply {
  return json({ error: true, reason }, 400)
}
