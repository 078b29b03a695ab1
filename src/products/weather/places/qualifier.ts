import type { City } from './cityFile.ts'
import { foldName } from './foldName.ts'
import { regions } from './regions.ts'

/** The meaning of a text after a comma: a country or a region. */
export interface Area {
  readonly countryCode: string
  /** GeoNames code of the region. Absent: the whole country. */
  readonly regionCode?: string
}

/** Country names that `Intl.DisplayNames` lacks in all languages below, or that are no longer official. */
const otherNames: Readonly<Record<string, string>> = {
  AE: 'UAE, Emirates',
  BA: 'Bosnia',
  CD: 'DRC, DR Congo, Democratic Republic of the Congo',
  CG: 'Republic of the Congo',
  CI: 'Ivory Coast',
  CV: 'Cape Verde',
  CZ: 'Czech Republic',
  GB: 'UK, Great Britain, Britain',
  HK: 'Hong Kong',
  KP: 'DPRK',
  KR: 'Korea, Republic of Korea',
  MK: 'Macedonia',
  MM: 'Burma, Myanmar',
  MO: 'Macau, Macao',
  NL: 'Holland, The Netherlands',
  PH: 'The Philippines',
  PS: 'Palestine',
  RU: 'Russian Federation',
  SZ: 'Swaziland',
  TL: 'East Timor',
  TR: 'Turkey',
  US: 'USA, U.S.A., U.S., United States of America, America',
  VA: 'Vatican',
}
// Languages of accepted country names. English comes first: if a name means different countries in two languages, the
// English meaning is used.
const languages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl'] as const
/** Common English names of territories, instead of the longer forms of `Intl.DisplayNames`. */
const plainNames: Readonly<Record<string, string>> = {
  CD: 'Democratic Republic of the Congo',
  CG: 'Republic of the Congo',
  HK: 'Hong Kong',
  MM: 'Myanmar',
  MO: 'Macao',
  PS: 'Palestine',
}
const english = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })

export function countryNameOf(countryCode: string): string {
  return plainNames[countryCode] ?? english.of(countryCode) ?? countryCode
}

export function regionNameOf({ countryCode, regionCode }: Pick<City, 'countryCode' | 'regionCode'>) {
  return regions.find((region) => region.countryCode === countryCode && region.code === regionCode)?.names[0]
}

let known: ReadonlyMap<string, readonly Area[]> | undefined

/**
 * Returns the meanings of a text. There can be several: "CA" is Canada and California, and "Georgia" is a country and a
 * state.
 */
export function findAreas(qualifier: string): readonly Area[] {
  return (known ??= readAreas()).get(foldName(qualifier)) ?? []
}

function readAreas(): ReadonlyMap<string, readonly Area[]> {
  const areas = new Map<string, Area[]>()
  const add = (name: string, area: Area): void => {
    const folded = foldName(name)
    areas.set(folded, [...(areas.get(folded) ?? []), area])
  }
  for (const { countryCode, code, names } of regions)
    for (const name of /^[A-Z]+$/.test(code) ? [code, ...names] : names) add(name, { countryCode, regionCode: code })
  const codes = countryCodes()
  const taken = new Set<string>()
  const addCountry = (name: string | undefined, countryCode: string): void => {
    if (name === undefined || taken.has(foldName(name))) return
    taken.add(foldName(name))
    add(name, { countryCode })
  }
  for (const code of codes) addCountry(code, currentCodeOf(code))
  for (const [countryCode, names] of Object.entries(otherNames))
    for (const name of names.split(', ')) addCountry(name, countryCode)
  for (const language of languages) {
    const names = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' })
    for (const code of codes) addCountry(names.of(code), currentCodeOf(code))
  }
  return areas
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')

function countryCodes(): readonly string[] {
  return alphabet.flatMap((first) =>
    alphabet.map((second) => first + second).filter((code) => english.of(code) !== undefined),
  )
}

/** Returns the current code of a country. Some codes are not current: UK becomes GB, and DD becomes DE. */
function currentCodeOf(code: string): string {
  return new Intl.Locale('und', { region: code }).region ?? code
}
