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

export type PlaceSearch =
  | { readonly kind: 'found'; readonly place: Place; readonly alternatives: readonly Place[] }
  | { readonly kind: 'unknown'; readonly why: string }

const alternativesMax = 5

/**
 * "City", "City, Country", "City, CC", "City, Region" or all three. Of several cities the largest is meant; the others are
 * named beside it. `unknown` is certain: the gazetteer is the list of what is sold.
 */
export function findPlace(gazetteer: Gazetteer, text: string): PlaceSearch {
  const whole = named(gazetteer, text)
  const [name = '', ...qualifiers] = text.split(',').map((part) => part.trim())
  const given = qualifiers.filter((qualifier) => qualifier !== '')
  // The name of a city may itself have a comma in it ("Washington, D.C.").
  if (given.length === 0 || whole.length > 0) return answer(whole, `no city named "${text.trim()}" is known`)
  const areas = given.map(areasNamed)
  const stranger = given.find((_, at) => areas[at]?.length === 0)
  if (stranger !== undefined) return { kind: 'unknown', why: `no country or region named "${stranger}" is known` }
  const within = named(gazetteer, name).filter((city) => areas.every((any) => any.some((area) => lies(city, area))))
  return answer(within, `no city named "${name}" is known in ${given.join(', ')}`)
}

function named(gazetteer: Gazetteer, name: string): readonly City[] {
  const exact = gazetteer.named(name)
  // "Duesseldorf": without an umlaut on the keyboard. Asked for second, because "Rouen" has none.
  return exact.length > 0 ? exact : gazetteer.named(name.replace(/([aou])e/gi, '$1'))
}

function lies(city: City, { countryCode, regionCode }: Area): boolean {
  return city.countryCode === countryCode && (regionCode === undefined || city.regionCode === regionCode)
}

function answer(cities: readonly City[], why: string): PlaceSearch {
  const [first, ...others] = distinct(cities.map(placeOf))
  if (first === undefined) return { kind: 'unknown', why: `${why}; check the spelling, or write "City, Country"` }
  return { kind: 'found', place: first, alternatives: others.slice(0, alternativesMax) }
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
