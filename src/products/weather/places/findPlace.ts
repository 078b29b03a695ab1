import type { City } from './cityFile.ts'
import type { Gazetteer } from './gazetteer.ts'
import { type Area, findAreas, countryNameOf, regionNameOf } from './qualifier.ts'

export interface PlaceRecord {
  readonly name: string
  readonly country: string
  readonly countryCode: string
  /** Name of the region. Present only for regions in our list, which has the countries where callers add a region. */
  readonly region?: string
  readonly latitude: number
  readonly longitude: number
}

export interface PlaceQuery {
  readonly name: string
  readonly qualifiers: readonly string[]
}

export interface FoundPlace {
  readonly place: PlaceRecord
  /** Other cities of the same name, the largest first. */
  readonly alternatives: readonly PlaceRecord[]
}

export type PlaceSearch =
  | ({ readonly kind: 'found' } & FoundPlace)
  | { readonly kind: 'unlisted'; readonly query: PlaceQuery; readonly why: string }

export const alternativesMax = 5
// Maximum number of parts between commas in a name, because listed names have at most three commas.
const namePartsMax = 4

/**
 * Finds a place by "City", "City, Country", "City, CC", "City, Region" or a combination. The largest matching city is
 * the answer, and the other matches are alternatives. An unlisted city may still exist, because the list omits places
 * below a thousand inhabitants and most regions.
 */
export function findPlace(gazetteer: Gazetteer, text: string): PlaceSearch {
  const parts = text.split(',').map((part) => part.trim().replace(/\s+/g, ' '))
  const queryOf = (nameParts: number): PlaceQuery => ({
    name: parts.slice(0, nameParts).join(', '),
    qualifiers: parts.slice(nameParts).filter((qualifier) => qualifier !== ''),
  })
  // Try the longest name first, because a name may contain a comma, such as "Washington, D.C.".
  for (let nameParts = Math.min(parts.length, namePartsMax); nameParts > 1; nameParts--) {
    const found = within(gazetteer, queryOf(nameParts))
    if (found.length > 0) return answer(found, queryOf(nameParts))
  }
  return answer(within(gazetteer, queryOf(1)), queryOf(1))
}

/** Returns the nearest city. If none is near, the name is the position, and the country is empty. */
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
  // Only if there is no match, read "ue" as "u", "ae" as "a" and "oe" as "o": "Duesseldorf" is Düsseldorf, but "Rouen"
  // is not "Roun".
  return exact.length > 0 ? exact : gazetteer.find(name.replace(/([aou])e/gi, '$1'))
}

function lies(city: City, { countryCode, regionCode }: Area): boolean {
  return city.countryCode === countryCode && (regionCode === undefined || city.regionCode === regionCode)
}

function answer(cities: readonly City[], query: PlaceQuery): PlaceSearch {
  const [first, ...others] = cities.map(placeOf)
  if (first === undefined) return { kind: 'unlisted', query, why: whyUnknown(query) }
  return { kind: 'found', place: first, alternatives: others.slice(0, alternativesMax) }
}

function whyUnknown({ name, qualifiers }: PlaceQuery): string {
  const where = qualifiers.length === 0 ? '' : ` in ${qualifiers.join(', ')}`
  return `no city named "${name}" is known${where}; check the spelling, or write "City, Country"`
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
