import { type City, openCityFile } from './cityFile.ts'
import { exonyms } from './exonyms.ts'
import { foldName } from './foldName.ts'

export interface Gazetteer {
  find(name: string): readonly City[]
  /** Undefined: no city is within 100 km. */
  nearest(latitude: number, longitude: number): City | undefined
}

let opened: Gazetteer | undefined

/** Returns the index of the process, and builds it on the first call. */
export function openGazetteer(): Gazetteer {
  return (opened ??= readGazetteer())
}

// Maximum number of cities per name hash. The most frequent names have a few hundred cities (San José). A larger count
// means a defect of the hash.
const sameHashMax = 2_000

function readGazetteer(): Gazetteer {
  const file = openCityFile()
  // Store hash and number in one float, as hash × 2^18 + number, because floats sort fast and need no objects.
  const index = new Float64Array(file.count)
  let number = 0
  for (const name of file.names()) index[number] = hashOf(foldName(name)) * numbersMax + number++
  index.sort()
  const listed = (folded: string): City[] => {
    const found: City[] = []
    const from = hashOf(folded) * numbersMax
    for (let at = lowerBound(index, from); at < index.length && found.length < sameHashMax; at++) {
      const entry = index[at] ?? Infinity
      if (entry >= from + numbersMax) break
      const city = file.cityAt(entry - from)
      if (foldName(city.name) === folded) found.push(city)
    }
    return found
  }
  const aliases = new Map<string, City>()
  for (const { alias, name, countryCode } of exonyms) {
    const city = largestFirst(listed(foldName(name)).filter((city) => city.countryCode === countryCode))[0]
    if (city !== undefined) aliases.set(foldName(alias), city)
  }
  return {
    nearest: file.nearest,
    find(name) {
      const folded = foldName(name)
      const alias = aliases.get(folded)
      return largestFirst([...(alias === undefined ? [] : [alias]), ...listed(folded)])
    },
  }
}

function largestFirst(cities: readonly City[]): readonly City[] {
  return cities.toSorted((a, b) => b.population - a.population)
}

const numbersMax = 2 ** 18

/** Returns the FNV-1a hash of a text. Different names can have the same hash, so callers compare the names too. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

function lowerBound(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? Infinity) < value) low = middle + 1
    else high = middle
  }
  return low
}
