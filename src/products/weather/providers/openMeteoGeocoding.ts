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

// Maximum of candidates to request. There are several, because some candidates have only a name that begins with the
// requested name.
const resultsMax = 10

/** Finds places of any size, for names outside the local list. */
export function createOpenMeteoGeocoding(deps: ProviderDeps): Provider<PlaceQuery, FoundPlace> {
  const { upstream, keyField } = openOpenMeteo(deps, 'OPEN_METEO_GEOCODING')
  return {
    ...ofUpstream(upstream),
    async ask(asked) {
      const query = {
        // Send only the first qualifier, because the API ignores the text after a second comma.
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
// Schema of an answer without results. The required generation time distinguishes such an answer from other JSON.
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
 * True if the geocoder has exchanged latitude and longitude. The nearest city is then not in the country of the place,
 * but it is after both values are exchanged.
 */
function isExchanged({ countryCode, latitude, longitude }: PlaceRecord): boolean {
  const { nearest } = openGazetteer()
  const isThere = (north: number, east: number) => nearest(north, east)?.countryCode === countryCode
  return !isThere(latitude, longitude) && Math.abs(longitude) <= 90 && isThere(longitude, latitude)
}

/** True for a populated place. The geocoder also returns countries, airports, rivers and mountains. */
function isPopulated({ name, feature_code: feature, country_code: country, latitude, longitude }: Result): boolean {
  // Refuse a place without coordinates, because missing coordinates are read as zero, which is a point at sea.
  const isSomewhere = latitude !== 0 || longitude !== 0
  return feature.startsWith('PPL') && name !== '' && /^[A-Z]{2}$/.test(country) && isSomewhere
}

/**
 * True if a place lies in the area that the qualifier names. An area outside our list is accepted for the first
 * qualifier, because the geocoder has checked it and has more regions.
 */
function lies(one: Result, qualifier: string, isFirst: boolean): boolean {
  const { country, country_code: code, admin1, admin2, admin3, admin4 } = one
  const folded = foldName(qualifier)
  if ([country, code, admin1, admin2, admin3, admin4].some((text) => foldName(text) === folded)) return true
  const areas = findAreas(qualifier)
  return areas.length === 0 ? isFirst : areas.some(({ countryCode }) => countryCode === code)
}

/**
 * Returns the places with exactly the requested name. If there is no such place, returns places with a different name,
 * because the requested name may be in another language or from another era. Places whose name only begins with the
 * requested name are excluded, because the largest of them would be another city.
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
