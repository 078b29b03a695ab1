import { describe, expect, test } from 'vitest'
import { openCityFile } from '../../../src/products/weather/places/cityFile.ts'
import { exonyms } from '../../../src/products/weather/places/exonyms.ts'
import { findPlace } from '../../../src/products/weather/places/findPlace.ts'
import { foldName } from '../../../src/products/weather/places/foldName.ts'
import { openGazetteer } from '../../../src/products/weather/places/gazetteer.ts'
import { regions } from '../../../src/products/weather/places/regions.ts'

const gazetteer = openGazetteer()
const find = (text: string) => findPlace(gazetteer, text)
const found = (text: string) => {
  const search = find(text)
  return search.kind === 'found'
    ? `${search.place.name}, ${search.place.region ?? '-'}, ${search.place.country}`
    : search.why
}

test('every city of the package is read, with a place on Earth', () => {
  const file = openCityFile()
  expect(file.count).toBe(135_233)
  for (let number = 0; number < file.count; number += 97) {
    const { name, countryCode, latitude, longitude } = file.cityAt(number)
    expect(name).not.toBe('')
    expect(countryCode).toMatch(/^[A-Z]{2}$/)
    expect(Math.abs(latitude)).toBeLessThanOrEqual(90)
    expect(Math.abs(longitude)).toBeLessThanOrEqual(180)
  }
})

test('a place has the figures of GeoNames', () => {
  expect(find('London')).toMatchObject({
    kind: 'found',
    place: {
      name: 'London',
      country: 'United Kingdom',
      countryCode: 'GB',
      region: 'England',
      latitude: 51.50853,
      longitude: -0.12574,
    },
  })
})

test.each([
  ['London', 'London, England, United Kingdom'],
  ['  lOnDoN ', 'London, England, United Kingdom'],
  ['London,GB', 'London, England, United Kingdom'],
  ['London, UK', 'London, England, United Kingdom'],
  ['London,', 'London, England, United Kingdom'],
  ['London, Ontario', 'London, Ontario, Canada'],
  ['London, Canada', 'London, Ontario, Canada'],
  ['London, Ontario, Canada', 'London, Ontario, Canada'],
  ['London, CA', 'London, Ontario, Canada'],
  ['San Diego, CA', 'San Diego, California, United States'],
  ['Atlanta, Georgia', 'Atlanta, Georgia, United States'],
  ['Tbilisi, Georgia', 'Tbilisi, -, Georgia'],
  ['Paris, TX', 'Paris, Texas, United States'],
  ['Cologne', 'Köln, North Rhine-Westphalia, Germany'],
  ['Koeln', 'Köln, North Rhine-Westphalia, Germany'],
  ['Cologne, Minnesota', 'Cologne, Minnesota, United States'],
  ['New York', 'New York City, New York, United States'],
  ['New York, NY', 'New York City, New York, United States'],
  ['Munich', 'Munich, Bavaria, Germany'],
  ['München, Deutschland', 'Munich, Bavaria, Germany'],
  ['Vienna', 'Vienna, -, Austria'],
  ['Prague', 'Prague, -, Czechia'],
  ['Moscow', 'Moscow, -, Russia'],
  ['Москва', 'Moscow, -, Russia'],
  ['東京', 'Tokyo, -, Japan'],
  ['Washington, D.C.', 'Washington, D.C., District of Columbia, United States'],
  ['Washington, DC', 'Washington, D.C., District of Columbia, United States'],
  ['St. Petersburg', 'Saint Petersburg, -, Russia'],
  ['St Petersburg, Florida', 'St. Petersburg, Florida, United States'],
  ['Xian', 'Xi’an, -, China'],
  ['Rouen', 'Rouen, Normandy, France'],
  ['Duesseldorf', 'Düsseldorf, North Rhine-Westphalia, Germany'],
  ['Hong Kong', 'Hong Kong, -, Hong Kong'],
])('"%s" is %s', (text, expected) => {
  expect(found(text)).toBe(expected)
})

test('the largest is taken, and the others are listed', () => {
  const search = find('Valencia')
  expect(search).toMatchObject({ place: { countryCode: 'VE' } })
  expect(search.kind === 'found' && search.alternatives.map(({ countryCode }) => countryCode)).toContain('ES')
  expect(found('Valencia, Spain')).toBe('Valencia, Valencian Community, Spain')
})

test('of a frequent name at most five others are listed, each once, the largest first', () => {
  const search = find('San José')
  expect(search.kind === 'found' && new Set(search.alternatives.map((place) => JSON.stringify(place))).size).toBe(5)
})

describe('is not listed, and says what is not known', () => {
  test.each([
    ['Lodnon', /no city named "Lodnon" is known; check the spelling/],
    ['Paris, Germany', /no city named "Paris" is known in Germany/],
    ['Paris, Atlantis', /no city named "Paris" is known in Atlantis/],
    [', France', /no city named/],
    ['. - .', /no city named/],
    ['__proto__', /no city named/],
  ])('%s', (text, why) => {
    expect(find(text)).toMatchObject({ kind: 'unlisted', why: expect.stringMatching(why) })
  })
})

test('a place outside the list is split into its parts for a geocoder', () => {
  expect(find('  Ober   Unterhof,, Kärnten , Austria')).toMatchObject({
    query: { name: 'Ober Unterhof', qualifiers: ['Kärnten', 'Austria'] },
  })
})

test('every exonym leads to a listed city of its country, and is not its own name', () => {
  const lost = exonyms.filter(({ alias, name, countryCode }) => {
    const isListed = gazetteer.find(name).some((city) => city.countryCode === countryCode)
    return !isListed || foldName(alias) === foldName(name)
  })
  expect(lost).toEqual([])
  expect(exonyms.length).toBeGreaterThan(300)
})

test('every region has a city, so that no code of the table is a slip', () => {
  const file = openCityFile()
  const codes = new Set<string>()
  for (let number = 0; number < file.count; number++) {
    const { countryCode, regionCode } = file.cityAt(number)
    codes.add(`${countryCode} ${regionCode}`)
  }
  expect(regions.filter(({ countryCode, code }) => !codes.has(`${countryCode} ${code}`))).toEqual([])
})
