import { weatherAt } from './climate.ts'
import { rounded } from './drift.ts'
import { json, listOf, type SampleProvider, type SampleReply } from './sampleProvider.ts'

/** Answers `/v1/forecast?current=…&timeformat=unixtime`. */
export const openMeteo: SampleProvider = ({ path, query, nowMs }) => {
  if (path !== '/v1/forecast') return json({ error: true, reason: 'Not Found' }, 404)
  const [latitude, longitude] = [readNumber(query, 'latitude'), readNumber(query, 'longitude')]
  if (latitude === undefined || Math.abs(latitude) > 90)
    return refused(`Latitude must be in range of -90 to 90°. Given: ${query.get('latitude')}.`)
  if (longitude === undefined || Math.abs(longitude) > 180)
    return refused(`Longitude must be in range of -180 to 180°. Given: ${query.get('longitude')}.`)
  const place = { latitude, longitude }
  const figures: Figures = figuresOf(place, nowMs)
  const [wanted, hourly] = [listOf(query, 'current'), listOf(query, 'hourly')]
  const unknown = [...wanted, ...hourly].find((name) => !(name in figures))
  if (unknown !== undefined)
    return refused(
      `Data corrupted at path ''. Cannot initialize current variable from invalid String value ${unknown}.`,
    )
  const startMs = nowMs - (nowMs % intervalMs)
  return json({
    // Coordinates of the grid cell, which differ from the requested ones.
    latitude: rounded(Math.round(latitude * 8) / 8, 6),
    longitude: rounded(Math.round(longitude * 8) / 8, 6),
    generationtime_ms: 0.07,
    utc_offset_seconds: 0,
    timezone: query.get('timezone') ?? 'GMT',
    timezone_abbreviation: query.get('timezone') ?? 'GMT',
    elevation: 25,
    current_units: { time: 'unixtime', interval: 'seconds', ...unitsOf(wanted, query) },
    current: {
      time: startMs / 1000,
      interval: intervalMs / 1000,
      ...shown(figures, wanted, query),
    },
    ...(hourly.length === 0 ? {} : hoursOf(place, { hourly, query, nowMs })),
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
  pressure_msl: 'hPa',
  cloud_cover: '%',
  wind_direction_10m: '°',
}

function figuresOf(place: { readonly latitude: number; readonly longitude: number }, nowMs: number): Figures {
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
    pressure_msl: weather.pressureHpa,
    cloud_cover: weather.sky.cloudPercent,
  }
}

function unitsOf(names: readonly string[], query: URLSearchParams): Readonly<Record<string, string>> {
  const of = query.get('wind_speed_unit') === 'ms' ? { ...units, wind_speed_10m: 'm/s' } : units
  return Object.fromEntries(names.map((name) => [name, of[name] ?? '']))
}

function shown(figures: Figures, names: readonly string[], query: URLSearchParams): Figures {
  const scale = query.get('wind_speed_unit') === 'ms' ? 1 / 3.6 : 1
  const of: Figures = { ...figures, wind_speed_10m: rounded((figures['wind_speed_10m'] ?? 0) * scale, 2) }
  return Object.fromEntries(names.map((name) => [name, of[name] ?? 0]))
}

interface Hours {
  readonly hourly: readonly string[]
  readonly query: URLSearchParams
  readonly nowMs: number
}

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** Hours of whole days, starting at the last midnight in UTC. */
function hoursOf(place: { readonly latitude: number; readonly longitude: number }, { hourly, query, nowMs }: Hours) {
  const days = Math.min(16, Number(query.get('forecast_days') ?? '7'))
  const times = Array.from({ length: days * 24 }, (_, hour) => nowMs - (nowMs % dayMs) + hour * hourMs)
  const rows = times.map((atMs) => shown(figuresOf(place, atMs), hourly, query))
  return {
    hourly_units: { time: 'unixtime', ...unitsOf(hourly, query) },
    hourly: {
      time: times.map((atMs) => atMs / 1000),
      ...Object.fromEntries(hourly.map((name) => [name, rows.map((row) => row[name])])),
    },
  }
}

function readNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? ''
  return /^-?\d{1,3}(\.\d+)?$/.test(text) ? Number(text) : undefined
}

function refused(reason: string): SampleReply {
  return json({ error: true, reason }, 400)
}
