import type { City } from './cityFile.ts'
import type { Gazetteer } from './gazetteer.ts'
import { type Area, findAreas, countryNameOf, regionNameOf } from './qualifier.ts'

/** The city that a caller names. */
export interface PlaceRecord {
  readonly name: string
  readonly country: string
  readonly countryCode: string
  /** The region, for countries whose callers name regions. */
  readonly region?: string
  readonly latitude: number
  readonly longitude: number
}

/** A city name, and the countries or regions that a caller adds. */
export interface PlaceQuery {
  readonly name: string
  readonly qualifiers: readonly string[]
}

/** The chosen place, and other places of that name. */
export interface FoundPlace {
  readonly place: PlaceRecord
  /** Other cities of the same name. */
  readonly alternatives: readonly PlaceRecord[]
}

export type PlaceSearch =
  | ({ readonly kind: 'found' } & FoundPlace)
  | { readonly kind: 'unlisted'; readonly query: PlaceQuery; readonly why: string }

export const alternativesMax = 5
// Listed names have at most two commas.
const namePartsMax = 3

/**
 * Finds a place by "City", "City, Country", "City, CC", "City, Region" or all three. The largest matching city is the
 * answer, and the others are alternatives. An unlisted city may still exist: the list omits places below a thousand
 * inhabitants and most regions.
 */
export function findPlace(gazetteer: Gazetteer, text: string): PlaceSearch {
  const parts = text.split(',').map((part) => part.trim().replace(/\s+/g, ' '))
  const queryOf = (nameParts: number): PlaceQuery => ({
    name: parts.slice(0, nameParts).join(', '),
    qualifiers: parts.slice(nameParts).filter((qualifier) => qualifier !== ''),
  })
  // Try the longest name first, because a name may contain a comma ("Washington, D.C.").
  for (let nameParts = Math.min(parts.length, namePartsMax); nameParts > 1; nameParts--) {
    const found = within(gazetteer, queryOf(nameParts))
    if (found.length > 0) return answer(found, queryOf(nameParts))
  }
  return answer(within(gazetteer, queryOf(1)), queryOf(1))
}

/** Returns the nearest listed city. If no city is near, the name is the position and the country is empty. */
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
  // Try "ue" as "u" only second: "Duesseldorf" stands for an umlaut, but "Rouen" does not.
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

/** Removes duplicates of a city that was found by its name and by an alias. */
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
