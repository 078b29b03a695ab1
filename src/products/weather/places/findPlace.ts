import type { City } from './cityFile.ts'
import type { Gazetteer } from './gazetteer.ts'
import { type Area, findAreas, countryNameOf, regionNameOf } from './qualifier.ts'

/** The city that a caller's text names. */
export interface PlaceRecord {
  readonly name: string
  readonly country: string
  readonly countryCode: string
  /** Present for the countries whose callers name regions. */
  readonly region?: string
  readonly latitude: number
  readonly longitude: number
}

/** A city name, and the countries or regions that a caller adds. */
export interface PlaceQuery {
  readonly name: string
  readonly qualifiers: readonly string[]
}

/** The place that was chosen, and those that it may be confused with. */
export interface FoundPlace {
  readonly place: PlaceRecord
  /** Other cities of the same name. */
  readonly alternatives: readonly PlaceRecord[]
}

export type PlaceSearch =
  | ({ readonly kind: 'found' } & FoundPlace)
  | { readonly kind: 'unlisted'; readonly query: PlaceQuery; readonly why: string }

export const alternativesMax = 5
// No listed name has more than two commas.
const namePartsMax = 3

/**
 * "City", "City, Country", "City, CC", "City, Region" or all three. Of several cities the largest is the answer and the
 * others are alternatives. An unlisted city may still exist: the list ends at a thousand inhabitants and has few regions.
 */
export function findPlace(gazetteer: Gazetteer, text: string): PlaceSearch {
  const parts = text.split(',').map((part) => part.trim().replace(/\s+/g, ' '))
  const queryOf = (nameParts: number): PlaceQuery => ({
    name: parts.slice(0, nameParts).join(', '),
    qualifiers: parts.slice(nameParts).filter((qualifier) => qualifier !== ''),
  })
  // A name may itself contain a comma ("Washington, D.C."), so the longest listed name wins.
  for (let nameParts = Math.min(parts.length, namePartsMax); nameParts > 1; nameParts--) {
    const found = within(gazetteer, queryOf(nameParts))
    if (found.length > 0) return answer(found, queryOf(nameParts))
  }
  return answer(within(gazetteer, queryOf(1)), queryOf(1))
}

/** The nearest listed city. Far from all cities, the name is the position and the country is unknown. */
export function placeNear(
  gazetteer: Gazetteer,
  { latitude, longitude }: Pick<PlaceRecord, 'latitude' | 'longitude'>,
): PlaceRecord {
  const city = gazetteer.nearest(latitude, longitude)
  return city === undefined
    ? { name: `${latitude}, ${longitude}`, country: '', countryCode: '', latitude, longitude }
    : placeOf(city)
}

function within(gazetteer: Gazetteer, { name, qualifiers }: PlaceQuery): readonly City[] {
  if (qualifiers.length === 0) return findCities(gazetteer, name)
  const areas = qualifiers.map(findAreas)
  return findCities(gazetteer, name).filter((city) => areas.every((any) => any.some((area) => lies(city, area))))
}

function findCities(gazetteer: Gazetteer, name: string): readonly City[] {
  const exact = gazetteer.find(name)
  // "Duesseldorf" is typed without an umlaut. Tried second, because "Rouen" has none.
  return exact.length > 0 ? exact : gazetteer.find(name.replace(/([aou])e/gi, '$1'))
}

function lies(city: City, { countryCode, regionCode }: Area): boolean {
  return city.countryCode === countryCode && (regionCode === undefined || city.regionCode === regionCode)
}

function answer(cities: readonly City[], query: PlaceQuery): PlaceSearch {
  const [first, ...others] = distinct(cities.map(placeOf))
  if (first === undefined) return { kind: 'unlisted', query, why: whyUnknown(query) }
  return { kind: 'found', place: first, alternatives: others.slice(0, alternativesMax) }
}

function whyUnknown({ name, qualifiers }: PlaceQuery): string {
  const where = qualifiers.length === 0 ? '' : ` in ${qualifiers.join(', ')}`
  return `no city named "${name}" is known${where}; check the spelling, or write "City, Country"`
}

/** Lists a city once that is found under its name and under its alias. */
function distinct(places: readonly PlaceRecord[]): readonly PlaceRecord[] {
  const byPosition = new Map(places.toReversed().map((place) => [`${place.latitude} ${place.longitude}`, place]))
  return places.filter((place) => byPosition.get(`${place.latitude} ${place.longitude}`) === place)
}

function placeOf(city: City): PlaceRecord {
  const { name, countryCode, latitude, longitude } = city
  const region = regionNameOf(city)
  return {
    name,
    country: countryNameOf(countryCode),
    countryCode,
    ...(region === undefined ? {} : { region }),
    latitude,
    longitude,
  }
}
