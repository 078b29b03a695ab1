import { isoTime } from '@tollbook/core/clock'
import { type Place, weatherAt } from '../climate.ts'
import { json, plain, type SampleProvider } from '../sampleProvider.ts'

/** The forecast has every hour of two days, then every sixth hour of a week. */
export const metNorway: SampleProvider = ({ path, query, nowMs }) => {
  if (path !== '/weatherapi/locationforecast/2.0/compact') return plain('404 Not Found', 404)
  const place = { latitude: Number(query.get('lat')), longitude: Number(query.get('lon')) }
  const firstMs = nowMs - (nowMs % hourMs)
  const hours = Array.from({ length: hourly + sixHourly }, (_, step) => step + 5 * Math.max(0, step - hourly))
  return json({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [place.longitude, place.latitude, 25] },
    properties: { meta: { units }, timeseries: hours.map((hour) => entryOf(place, firstMs + hour * hourMs)) },
  })
}

const hourMs = 60 * 60 * 1000
const hourly = 48
const sixHourly = 28

const units = {
  air_pressure_at_sea_level: 'hPa',
  air_temperature: 'celsius',
  cloud_area_fraction: '%',
  precipitation_amount: 'mm',
  relative_humidity: '%',
  wind_from_direction: 'degrees',
  wind_speed: 'm/s',
}

function entryOf(place: Place, atMs: number) {
  const { sky, ...weather } = weatherAt(place, atMs)
  const details = {
    air_pressure_at_sea_level: weather.pressureHpa,
    air_temperature: weather.celsius,
    cloud_area_fraction: sky.cloudPercent,
    relative_humidity: weather.humidityPercent,
    wind_from_direction: weather.windFromDegrees,
    wind_speed: weather.windMetersPerSecond,
  }
  const next = { summary: { symbol_code: sky.metSymbol }, details: { precipitation_amount: sky.rainMm } }
  return { time: isoTime(atMs), data: { instant: { details }, next_1_hours: next, next_6_hours: next } }
}
