import { type Place, weatherAt } from '../climate.ts'
import { json, listOf, type SampleProvider } from '../sampleProvider.ts'

export const openMeteo: SampleProvider = ({ path, query, nowMs }) => {
  if (path !== '/v1/forecast') return json({ error: true, reason: 'Not Found' }, 404)
  const place = { latitude: Number(query.get('latitude')), longitude: Number(query.get('longitude')) }
  const [current, hourly] = [listOf(query, 'current'), listOf(query, 'hourly')]
  return json({
    // Coordinates of the grid cell, which differ from the requested coordinates, as at Open-Meteo.
    latitude: Math.round(place.latitude * 8) / 8,
    longitude: Math.round(place.longitude * 8) / 8,
    generationtime_ms: 0.07,
    utc_offset_seconds: 0,
    current_units: pick(units, current),
    current: { time: (nowMs - (nowMs % intervalMs)) / 1000, ...pick(figuresOf(place, nowMs), current) },
    ...(hourly.length === 0 ? {} : hoursOf(place, hourly, { nowMs, days: Number(query.get('forecast_days')) })),
  })
}

const intervalMs = 15 * 60 * 1000
const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

const units: Readonly<Record<string, string>> = {
  temperature_2m: '°C',
  relative_humidity_2m: '%',
  precipitation: 'mm',
  weather_code: 'wmo code',
  wind_speed_10m: 'm/s',
  wind_direction_10m: '°',
  pressure_msl: 'hPa',
  cloud_cover: '%',
}

function figuresOf(place: Place, nowMs: number): Readonly<Record<string, number>> {
  const { sky, ...weather } = weatherAt(place, nowMs)
  return {
    temperature_2m: weather.celsius,
    relative_humidity_2m: Math.round(weather.humidityPercent),
    precipitation: sky.rainMm,
    weather_code: sky.wmoCode,
    wind_speed_10m: weather.windMetersPerSecond,
    wind_direction_10m: Math.round(weather.windFromDegrees),
    pressure_msl: weather.pressureHpa,
    cloud_cover: sky.cloudPercent,
  }
}

function pick<T>(all: Readonly<Record<string, T>>, names: readonly string[]): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
}

/** The answer has one list per column, starting at the last midnight in UTC. */
function hoursOf(place: Place, names: readonly string[], { nowMs, days }: { nowMs: number; days: number }) {
  const times = Array.from({ length: days * 24 }, (_, hour) => nowMs - (nowMs % dayMs) + hour * hourMs)
  const rows = times.map((atMs) => figuresOf(place, atMs))
  const columns = names.map((name): [string, unknown] => [name, rows.map((row) => row[name])])
  return {
    hourly_units: pick(units, names),
    hourly: { time: times.map((atMs) => atMs / 1000), ...Object.fromEntries(columns) },
  }
}
