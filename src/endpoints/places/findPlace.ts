import type { City } from './cityFile.ts'
import type { Gazetteer } from './gazetteer.ts'
import { type Area, areasNamed, countryNameOf, regionNameOf } from './qualifier.ts'

/** A city that was meant by what a caller wrote. */
export interface Place {
  readonly name: string
  readonly country: string
  readonly countryCode: string
  /** Known for the countries whose callers name it. */
  readonly region?: string
  readonly latitude: number
  readonly longitude: number
}

/** A city, and the countries or regions that it is said to be in. */
export interface PlaceQuery {
  readonly name: string
  readonly qualifiers: readonly string[]
}

export interface FoundPlace {
  readonly place: Place
  /** Others that bear the name. */
  readonly alternatives: readonly Place[]
}

export type PlaceSearch =
  | ({ readonly kind: 'found' } & FoundPlace)
  | { readonly kind: 'unlisted'; readonly query: PlaceQuery; readonly why: string }

export const alternativesMax = 5
// No listed name has more commas than two.
const namePartsMax = 3

/**
 * "City", "City, Country", "City, CC", "City, Region" or all three. Of several cities the largest is meant; the others are
 * named beside it. What is not listed may still exist: the list ends at a thousand inhabitants, and knows few regions.
 */
export function findPlace(gazetteer: Gazetteer, text: string): PlaceSearch {
  const parts = text.split(',').map((part) => part.trim().replace(/\s+/g, ' '))
  const queryOf = (nameParts: number): PlaceQuery => ({
    name: parts.slice(0, nameParts).join(', '),
    qualifiers: parts.slice(nameParts).filter((qualifier) => qualifier !== ''),
  })
  // The name of a city may itself have a comma in it ("Washington, D.C."), so the longest name that is listed counts.
  for (let nameParts = Math.min(parts.length, namePartsMax); nameParts > 1; nameParts--) {
    const found = within(gazetteer, queryOf(nameParts))
    if (found.length > 0) return answer(found, queryOf(nameParts))
  }
  return answer(within(gazetteer, queryOf(1)), queryOf(1))
}

function within(gazetteer: Gazetteer, { name, qualifiers }: PlaceQuery): readonly City[] {
  if (qualifiers.length === 0) return named(gazetteer, name)
  const areas = qualifiers.map(areasNamed)
  return named(gazetteer, name).filter((city) => areas.every((any) => any.some((area) => lies(city, area))))
}

function named(gazetteer: Gazetteer, name: string): readonly City[] {
  const exact = gazetteer.named(name)
  // "Duesseldorf": without an umlaut on the keyboard. Asked for second, because "Rouen" has none.
  return exact.length > 0 ? exact : gazetteer.named(name.replace(/([aou])e/gi, '$1'))
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

/** A city that bears the name and the alias of it is listed once. */
function distinct(places: readonly Place[]): readonly Place[] {
  const byPosition = new Map(places.toReversed().map((place) => [`${place.latitude} ${place.longitude}`, place]))
  return places.filter((place) => byPosition.get(`${place.latitude} ${place.longitude}`) === place)
}

function placeOf(city: City): Place {
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
