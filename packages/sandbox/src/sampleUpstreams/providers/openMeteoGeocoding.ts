import { json, type SampleProvider } from '../sampleProvider.ts'

type Place = readonly [name: string, latitude: number, longitude: number, population: number]
type Country = readonly [code: string, country: string, admin1: string, timezone: string, feature: 'PPL' | 'PPLC']

/** The locations are real. */
const rows: readonly (readonly [...Place, ...Country])[] = [
  ['London', 51.508_53, -0.125_74, 8_961_989, 'GB', 'United Kingdom', 'England', 'Europe/London', 'PPLC'],
  ['London', 42.983_39, -81.233_04, 422_324, 'CA', 'Canada', 'Ontario', 'America/Toronto', 'PPL'],
  ['Berlin', 52.524_37, 13.410_53, 3_426_354, 'DE', 'Germany', 'State of Berlin', 'Europe/Berlin', 'PPLC'],
  ['New York', 40.714_27, -74.005_97, 8_804_190, 'US', 'United States', 'New York', 'America/New_York', 'PPL'],
  ['Tokyo', 35.689_5, 139.691_71, 8_336_599, 'JP', 'Japan', 'Tokyo', 'Asia/Tokyo', 'PPLC'],
  // Hallstatt is too small for Tollbook's own list of cities, so a search for it queries this server.
  ['Hallstatt', 47.562_22, 13.649_17, 752, 'AT', 'Austria', 'Upper Austria', 'Europe/Vienna', 'PPL'],
]

const cities = rows.map(
  ([name, latitude, longitude, population, country_code, country, admin1, timezone, feature_code]) => {
    const ids = { id: population, admin1_id: population + 1, country_id: population + 2 }
    const place = { name, latitude, longitude, elevation: 25, feature_code, timezone, population }
    return { ...ids, ...place, country_code, country, admin1 }
  },
)
type SampleCity = (typeof cities)[number]

/** Omits the key `results` if nothing matches. */
export const openMeteoGeocoding: SampleProvider = ({ path, query }) => {
  if (path !== '/v1/search') return json({ error: true, reason: 'Not Found' }, 404)
  const count = Number(query.get('count') ?? '10')
  if (!(count >= 1 && count <= 100))
    return json({ error: true, reason: 'Parameter count must be between 1 and 100.' }, 400)
  const [name = '', area] = (query.get('name') ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())
  const country = query.get('countryCode')?.toUpperCase()
  const found = name.length < 2 ? [] : cities.filter((one) => isMeant(one, { name, area, country }))
  return json({ ...(found.length === 0 ? {} : { results: found.slice(0, count) }), generationtime_ms: 0.4 })
}

interface Wanted {
  readonly name: string
  readonly area: string | undefined
  readonly country: string | undefined
}

/** A name of two letters must match completely. A longer name must match only at the beginning. */
function isMeant(one: SampleCity, { name, area, country }: Wanted): boolean {
  const own = one.name.toLowerCase()
  const matches = name.length === 2 ? own === name : own.startsWith(name)
  const isThere = area === undefined || [one.admin1, one.country].some((text) => text.toLowerCase() === area)
  return matches && isThere && (country === undefined || country === one.country_code)
}
