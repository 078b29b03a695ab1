import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { alternativesMax, type FoundPlace, type PlaceRecord, type PlaceQuery } from '../places/findPlace.ts'
import { foldName } from '../places/foldName.ts'
import { openGazetteer } from '../places/gazetteer.ts'
import { findAreas, countryNameOf } from '../places/qualifier.ts'
import { openOpenMeteo } from './openMeteo.ts'
import { ofUpstream } from '../../../outbound/publicUpstream.ts'
import type { Provider, ProviderDeps } from '../../../sourcing/provider.ts'
import { readJson, refuseStatus } from '../../../outbound/upstreamReply.ts'

// Request ten candidates, because some only have names that begin with the requested one.
const resultsMax = 10

/** Places of any size, for names outside the local list. */
export function createOpenMeteoGeocoding(deps: ProviderDeps): Provider<PlaceQuery, FoundPlace> {
  const { upstream, keyField } = openOpenMeteo(deps, 'OPEN_METEO_GEOCODING')
  return {
    ...ofUpstream(upstream),
    async ask(asked) {
      const query = {
        // Send one qualifier: the API ignores text after a second comma.
        name: [asked.name, ...asked.qualifiers.slice(0, 1)].join(','),
        count: String(resultsMax),
        language: 'en',
        format: 'json',
        ...keyField,
      }
      const data = await upstream.ask({ path: '/search', query }, (reply) => read(reply, asked))
      return { data, asOfMs: deps.clock.nowMs() }
    },
  }
}

// The API omits empty and zero fields. A place on the equator or on the Greenwich meridian therefore lacks a
// coordinate.
const result = z.object({
  name: z.string().max(500).default(''),
  latitude: z.number().min(-90).max(90).default(0),
  longitude: z.number().min(-180).max(180).default(0),
  feature_code: z.string().default(''),
  country_code: z.string().default(''),
  country: z.string().default(''),
  population: z.number().default(0),
  admin1: z.string().max(500).default(''),
  admin2: z.string().default(''),
  admin3: z.string().default(''),
  admin4: z.string().default(''),
})
type Result = z.infer<typeof result>

const found = z.object({ results: z.array(result).min(1) })
// An answer without results. The generation time distinguishes it from other JSON.
const none = z.object({ results: z.array(result).max(0).default([]), generationtime_ms: z.number() })

function read(reply: Reply, { name, qualifiers }: PlaceQuery): FoundPlace {
  refuseStatus(reply, 'bad_payload')
  const { results } = readJson(reply, z.union([found, none]))
  const there = results.filter((one) => isPopulated(one) && qualifiers.every((text, at) => lies(one, text, at === 0)))
  const places = bearing(name, there)
    .toSorted((a, b) => b.population - a.population)
    .map(placeOf)
  const [place, ...others] = places
  if (place === undefined) throw new UpstreamFailure('not_found', 'no populated place of this name')
  if (isExchanged(place)) throw new UpstreamFailure('bad_payload', 'latitude and longitude are exchanged')
  return { place, alternatives: others.slice(0, alternativesMax) }
}

/**
 * True if latitude and longitude are swapped: the position is in another country or at sea, and the swapped one in the
 * right country.
 */
function isExchanged({ countryCode, latitude, longitude }: PlaceRecord): boolean {
  const { nearest } = openGazetteer()
  const isThere = (north: number, east: number) => nearest(north, east)?.countryCode === countryCode
  return !isThere(latitude, longitude) && Math.abs(longitude) <= 90 && isThere(longitude, latitude)
}

/** True for populated places: countries, airports, rivers and mountains have names too. */
function isPopulated({ name, feature_code: feature, country_code: country, latitude, longitude }: Result): boolean {
  // Refuse a place without both coordinates: read as zero, they would be a point at sea.
  const isSomewhere = latitude !== 0 || longitude !== 0
  return feature.startsWith('PPL') && name !== '' && /^[A-Z]{2}$/.test(country) && isSomewhere
}

/**
 * True if a place lies in the named area. The geocoder has checked the first qualifier, and it has more regions than
 * our list.
 */
function lies(one: Result, qualifier: string, isFirst: boolean): boolean {
  const { country, country_code: code, admin1, admin2, admin3, admin4 } = one
  const folded = foldName(qualifier)
  if ([country, code, admin1, admin2, admin3, admin4].some((text) => foldName(text) === folded)) return true
  const areas = findAreas(qualifier)
  return areas.length === 0 ? isFirst : areas.some(({ countryCode }) => countryCode === code)
}

/**
 * Returns places with exactly the requested name. If there are none, returns places with a different name, because the
 * requested one may be in another language or era. Names that only begin with the requested one are excluded: the
 * largest such place is another city.
 */
function bearing(name: string, results: readonly Result[]): readonly Result[] {
  const folded = foldName(name)
  const first = results.filter((one) => foldName(one.name) === folded)
  return first.length > 0 ? first : results.filter((one) => !foldName(one.name).startsWith(folded))
}

function placeOf({ name, country_code: countryCode, admin1, latitude, longitude }: Result): PlaceRecord {
  const region = admin1 === '' ? {} : { region: admin1 }
  return { name, country: countryNameOf(countryCode), countryCode, ...region, latitude, longitude }
}
