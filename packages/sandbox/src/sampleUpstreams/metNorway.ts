import { isoTime } from '@tollbook/core/clock'
import { type Place, type SampleWeather, weatherAt } from './climate.ts'
import { json, plain, type SampleProvider, type SampleRequest } from './sampleProvider.ts'

/**
 * Answers `/weatherapi/locationforecast/2.0/compact`. Refuses callers without a name, and coordinates with five or more
 * decimals.
 */
export const metNorway: SampleProvider = (request) => {
  const { path, headers } = request
  if (path !== '/weatherapi/locationforecast/2.0/compact') return plain('404 Not Found', 404)
  if ((headers['user-agent'] ?? '') === '') return plain('403 Forbidden', 403)
  const place = readPlace(request)
  return 'refusal' in place ? plain(...place.refusal) : forecastOf(place, request)
}

function readPlace({ query }: SampleRequest): Place | { readonly refusal: [text: string, status: number] } {
  const given = [query.get('lat') ?? '', query.get('lon') ?? '']
  if (given.some((value) => /\.\d{5,}$/.test(value))) return { refusal: ['403 Forbidden: too many decimals', 403] }
  const [latitude = Number.NaN, longitude = Number.NaN] = given.map((value) =>
    value === '' ? Number.NaN : Number(value),
  )
  // NaN fails both comparisons.
  const isOnEarth = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180
  return isOnEarth ? { latitude, longitude } : { refusal: ['400 Bad Request: lat or lon', 400] }
}

const hourMs = 60 * 60 * 1000
const hourly = 48
const sixHourly = 28
const validMs = 30 * 60 * 1000

function forecastOf(place: Place, { headers, nowMs }: SampleRequest) {
  const updatedMs = nowMs - (nowMs % validMs)
  const caching = {
    expires: new Date(updatedMs + validMs).toUTCString(),
    'last-modified': new Date(updatedMs).toUTCString(),
  }
  if (headers['if-modified-since'] === caching['last-modified']) return { status: 304, headers: caching, body: '' }
  const firstMs = nowMs - (nowMs % hourMs)
  const times = [
    ...Array.from({ length: hourly }, (_, step) => firstMs + step * hourMs),
    ...Array.from({ length: sixHourly }, (_, step) => firstMs + (hourly + step * 6) * hourMs),
  ]
  const body = {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [place.longitude, place.latitude, 25] },
    properties: {
      meta: { updated_at: isoSeconds(updatedMs), units },
      // The last entry does not summarize later hours.
      timeseries: times.map((atMs, index) => entryOf(place, atMs, index < times.length - 1)),
    },
  }
  return json(body, 200, caching)
}

const units = {
  air_pressure_at_sea_level: 'hPa',
  air_temperature: 'celsius',
  cloud_area_fraction: '%',
  precipitation_amount: 'mm',
  relative_humidity: '%',
  wind_from_direction: 'degrees',
  wind_speed: 'm/s',
}

function entryOf(place: Place, atMs: number, looksAhead: boolean) {
  const weather = weatherAt(place, atMs)
  const instant = {
    details: {
      air_pressure_at_sea_level: weather.pressureHpa,
      air_temperature: weather.celsius,
      cloud_area_fraction: weather.sky.cloudPercent,
      relative_humidity: weather.humidityPercent,
      wind_from_direction: weather.windFromDegrees,
      wind_speed: weather.windMetersPerSecond,
    },
  }
  const summary = { symbol_code: symbolOf(weather) }
  const ahead = {
    next_12_hours: { summary, details: {} },
    next_1_hours: { summary, details: { precipitation_amount: weather.sky.rainMm } },
    next_6_hours: { summary, details: { precipitation_amount: weather.sky.rainMm } },
  }
  return { time: isoSeconds(atMs), data: { instant, ...(looksAhead ? ahead : {}) } }
}

function symbolOf({ sky, isDay }: SampleWeather): string {
  if (!sky.hasDayAndNight) return sky.metSymbol
  return `${sky.metSymbol}_${isDay ? 'day' : 'night'}`
}

function isoSeconds(atMs: number): string {
  return isoTime(atMs).replace('.000Z', 'Z')
}
