import { isoTime } from '@tollbook/core/clock'
import { type Place, weatherAt } from './climate.ts'
import { rounded } from './drift.ts'
import { json, type SampleProvider, type SampleReply } from './sampleProvider.ts'

interface Station extends Place {
  readonly id: string
  readonly office: string
  readonly city: string
  readonly state: string
  readonly timeZone: string
}

/** The locations of these stations are real; there are only few of them. */
const stations: readonly Station[] = [
  station('KNYC', [40.78, -73.97], { office: 'OKX', city: 'New York', state: 'NY', timeZone: 'America/New_York' }),
  station('KMIA', [25.79, -80.32], { office: 'MFL', city: 'Miami', state: 'FL', timeZone: 'America/New_York' }),
  station('KORD', [41.98, -87.9], { office: 'LOT', city: 'Chicago', state: 'IL', timeZone: 'America/Chicago' }),
  station('KDEN', [39.85, -104.66], { office: 'BOU', city: 'Denver', state: 'CO', timeZone: 'America/Denver' }),
  station('KSFO', [37.62, -122.37], {
    office: 'MTR',
    city: 'San Francisco',
    state: 'CA',
    timeZone: 'America/Los_Angeles',
  }),
  station('KSEA', [47.44, -122.31], { office: 'SEW', city: 'Seattle', state: 'WA', timeZone: 'America/Los_Angeles' }),
]

/** Three requests: from a point to its grid, from the grid to its stations, from a station to its observation. */
export const nws: SampleProvider = ({ path, headers, nowMs, origin }) => {
  if ((headers['user-agent'] ?? '') === '') return problem(403, 'Forbidden', 'a User-Agent is required')
  const [, latitude, longitude] = /^\/points\/(-?[\d.]+),(-?[\d.]+)$/.exec(path) ?? []
  if (latitude !== undefined && longitude !== undefined)
    return pointOf({ latitude: Number(latitude), longitude: Number(longitude) }, origin)
  const [, office] = /^\/gridpoints\/([A-Z]{3})\/\d+,\d+\/stations$/.exec(path) ?? []
  const ofOffice = stations.filter((one) => one.office === office)
  if (ofOffice.length > 0) return geoJson(stationsOf(ofOffice, origin))
  const [, id] = /^\/stations\/([A-Z0-9]{4,5})\/observations\/latest$/.exec(path) ?? []
  const seen = stations.find((one) => one.id === id)
  return seen === undefined ? problem(404, 'NotFound', 'Not Found') : geoJson(observationOf(seen, { nowMs, origin }))
}

/** The box around the lower 48 states; the true one knows their borders, and Alaska and the islands. */
function pointOf(place: Place, origin: string): SampleReply {
  const { latitude, longitude } = place
  if (!(latitude >= 24.5 && latitude <= 49.4 && longitude >= -125 && longitude <= -66.9))
    return problem(404, 'InvalidPoint', `Unable to provide data for requested point ${latitude},${longitude}`)
  const [nearest] = stations.toSorted((a, b) => distance(a, place) - distance(b, place))
  const grid = `${origin}/gridpoints/${nearest?.office ?? ''}/33,35`
  return geoJson({
    id: `${origin}/points/${latitude},${longitude}`,
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
    properties: {
      cwa: nearest?.office,
      gridId: nearest?.office,
      gridX: 33,
      gridY: 35,
      forecast: `${grid}/forecast`,
      forecastHourly: `${grid}/forecast/hourly`,
      observationStations: `${grid}/stations`,
      relativeLocation: { type: 'Feature', properties: { city: nearest?.city, state: nearest?.state } },
      timeZone: nearest?.timeZone,
      radarStation: 'KDIX',
    },
  })
}

/** Good enough to find the nearest of six. */
function distance(one: Place, other: Place): number {
  return Math.hypot(one.latitude - other.latitude, one.longitude - other.longitude)
}

function stationsOf(found: readonly Station[], origin: string) {
  return {
    type: 'FeatureCollection',
    features: found.map(({ id, city, timeZone, latitude, longitude }) => ({
      id: `${origin}/stations/${id}`,
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [longitude, latitude] },
      properties: { '@type': 'wx:ObservationStation', stationIdentifier: id, name: city, timeZone },
    })),
    observationStations: found.map(({ id }) => `${origin}/stations/${id}`),
  }
}

const intervalMs = 10 * 60 * 1000

function observationOf(seen: Station, { nowMs, origin }: { readonly nowMs: number; readonly origin: string }) {
  const atMs = nowMs - (nowMs % intervalMs)
  const { celsius, humidityPercent, windMetersPerSecond, sky } = weatherAt(seen, atMs)
  const figure = (unit: string, value: number) => ({ unitCode: `wmoUnit:${unit}`, value, qualityControl: 'V' })
  return {
    id: `${origin}/stations/${seen.id}/observations/${isoTime(atMs)}`,
    type: 'Feature',
    properties: {
      station: `${origin}/stations/${seen.id}`,
      timestamp: isoTime(atMs).replace('.000Z', '+00:00'),
      textDescription: sky.nwsText,
      temperature: figure('degC', celsius),
      dewpoint: figure('degC', rounded(celsius - (100 - humidityPercent) / 5, 1)),
      windSpeed: figure('km_h-1', rounded(windMetersPerSecond * 3.6, 2)),
      relativeHumidity: figure('percent', humidityPercent),
    },
  }
}

function geoJson(body: unknown): SampleReply {
  return json(body, 200, { 'content-type': 'application/geo+json' })
}

function problem(status: number, name: string, detail: string): SampleReply {
  const body = { type: `https://api.weather.gov/problems/${name}`, title: name, status, detail }
  return json(body, status, { 'content-type': 'application/problem+json' })
}

type StationDetail = Pick<Station, 'office' | 'city' | 'state' | 'timeZone'>

function station(id: string, [latitude, longitude]: readonly [number, number], detail: StationDetail): Station {
  return { id, latitude, longitude, ...detail }
}
