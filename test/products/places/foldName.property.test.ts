import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openCityFile } from '../../../src/products/weather/places/cityFile.ts'
import { findPlace } from '../../../src/products/weather/places/findPlace.ts'
import { foldName } from '../../../src/products/weather/places/foldName.ts'
import { openGazetteer } from '../../../src/products/weather/places/gazetteer.ts'

const file = openCityFile()
const gazetteer = openGazetteer()
const city = fc.integer({ min: 0, max: file.count - 1 }).map((number) => file.cityAt(number))

test('a folded name is folded already, and has no case, marks or punctuation', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'grapheme' }),
        city.map(({ name }) => name),
      ),
      (name) => {
        const folded = foldName(name)
        expect(foldName(folded)).toBe(folded)
        expect(folded).toBe(folded.toLowerCase())
        expect(folded).not.toMatch(/\p{M}|\p{P}|^ | $| {2}/u)
      },
    ),
    { numRuns: 500, examples: [['ẚ'], ['ŉ']] },
  )
})

test('every listed city is found by its name, in capitals, without marks, and with hyphens for spaces', () => {
  const spellings = [
    (name: string) => name,
    (name: string) => name.toUpperCase(),
    (name: string) => name.normalize('NFD').replace(/\p{M}/gu, ''),
    (name: string) => name.replaceAll(' ', '-'),
  ]
  fc.assert(
    fc.property(city, fc.constantFrom(...spellings), (one, spell) => {
      const listed = gazetteer.find(spell(one.name))
      expect(listed).toContainEqual(one)
    }),
    { numRuns: 500 },
  )
})

test('every listed city is found within its country, or listed with a larger one of a region with the same letters', () => {
  const countriesOf = (name: string, countryCode: string) => {
    const search = findPlace(gazetteer, `${name}, ${countryCode}`)
    return search.kind === 'found' ? [search.place, ...search.alternatives].map((place) => place.countryCode) : []
  }
  fc.assert(
    fc.property(city, ({ name, countryCode }) => {
      expect(countriesOf(name, countryCode)).toContain(countryCode)
    }),
    { numRuns: 300, examples: gazetteer.find('Villa Presidente Frei, Ñuñoa, Santiago, Chile').map((one) => [one]) },
  )
  // AR is Argentina, and Arkansas.
  expect(countriesOf('Bella Vista', 'AR').toSorted()).toEqual(expect.arrayContaining(['AR', 'US']))
})

test('whatever is asked, an answer comes: a place or a reason', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 100, unit: 'grapheme' }), (text) => {
      expect(['found', 'unlisted']).toContain(findPlace(gazetteer, text).kind)
    }),
  )
})
