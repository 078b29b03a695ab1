import { json, type SampleProvider } from './sampleProvider.ts'

interface SampleCity {
  readonly id: number
  readonly name: string
  readonly latitude: number
  readonly longitude: number
  readonly feature_code: string
  readonly country_code: string
  readonly timezone: string
  readonly population: number
  readonly country: string
  readonly admin1: string
}

/** The locations of these cities are real; there are only few of them. */
const cities: readonly SampleCity[] = [
  city('London', [51.508_53, -0.125_74], {
    code: 'GB',
    country: 'United Kingdom',
    admin1: 'England',
    timezone: 'Europe/London',
    population: 8_961_989,
    capital: true,
  }),
  city('London', [42.983_39, -81.233_04], {
    code: 'CA',
    country: 'Canada',
    admin1: 'Ontario',
    timezone: 'America/Toronto',
    population: 422_324,
  }),
  city('Berlin', [52.524_37, 13.410_53], {
    code: 'DE',
    country: 'Germany',
    admin1: 'State of Berlin',
    timezone: 'Europe/Berlin',
    population: 3_426_354,
    capital: true,
  }),
  city('Paris', [48.853_41, 2.348_8], {
    code: 'FR',
    country: 'France',
    admin1: 'Île-de-France',
    timezone: 'Europe/Paris',
    population: 2_138_551,
    capital: true,
  }),
  city('Oslo', [59.912_73, 10.746_09], {
    code: 'NO',
    country: 'Norway',
    admin1: 'Oslo',
    timezone: 'Europe/Oslo',
    population: 580_000,
    capital: true,
  }),
  city('New York', [40.714_27, -74.005_97], {
    code: 'US',
    country: 'United States',
    admin1: 'New York',
    timezone: 'America/New_York',
    population: 8_804_190,
  }),
  city('San Francisco', [37.774_93, -122.419_42], {
    code: 'US',
    country: 'United States',
    admin1: 'California',
    timezone: 'America/Los_Angeles',
    population: 864_816,
  }),
  city('Tokyo', [35.689_5, 139.691_71], {
    code: 'JP',
    country: 'Japan',
    admin1: 'Tokyo',
    timezone: 'Asia/Tokyo',
    population: 8_336_599,
    capital: true,
  }),
  city('Singapore', [1.289_67, 103.850_07], {
    code: 'SG',
    country: 'Singapore',
    admin1: 'Singapore',
    timezone: 'Asia/Singapore',
    population: 5_638_700,
    capital: true,
  }),
  city('Sydney', [-33.867_85, 151.207_32], {
    code: 'AU',
    country: 'Australia',
    admin1: 'New South Wales',
    timezone: 'Australia/Sydney',
    population: 4_627_345,
  }),
  city('Nairobi', [-1.283_33, 36.816_67], {
    code: 'KE',
    country: 'Kenya',
    admin1: 'Nairobi County',
    timezone: 'Africa/Nairobi',
    population: 4_397_073,
    capital: true,
  }),
  // Too small for the list that Tollbook brings along, so that the way by this server can be seen.
  city('Hallstatt', [47.562_22, 13.649_17], {
    code: 'AT',
    country: 'Austria',
    admin1: 'Upper Austria',
    timezone: 'Europe/Vienna',
    population: 752,
  }),
]

/** `/v1/search?name=`. When there is nothing, the key `results` is missing. */
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

/** Two letters have to be the whole name; of more, the beginning is enough. */
function isMeant(one: SampleCity, { name, area, country }: Wanted): boolean {
  const own = one.name.toLowerCase()
  const matches = name.length === 2 ? own === name : own.startsWith(name)
  const isThere = area === undefined || [one.admin1, one.country].some((text) => text.toLowerCase() === area)
  return matches && isThere && (country === undefined || country === one.country_code)
}

interface CityDetail {
  readonly code: string
  readonly country: string
  readonly admin1: string
  readonly timezone: string
  readonly population: number
  readonly capital?: boolean
}

function city(name: string, [latitude, longitude]: readonly [number, number], detail: CityDetail) {
  const { code, country, admin1, timezone, population, capital = false } = detail
  return {
    id: population,
    name,
    latitude,
    longitude,
    elevation: 25,
    feature_code: capital ? 'PPLC' : 'PPL',
    country_code: code,
    admin1_id: population + 1,
    timezone,
    population,
    country_id: population + 2,
    country,
    admin1,
  }
}
