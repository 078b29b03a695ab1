import { describe, expect, test } from 'vitest'
import { createOpenMeteoGeocoding } from '../../src/products/weather/providers/openMeteoGeocoding.ts'
import { findPlace } from '../../src/products/weather/places/findPlace.ts'
import { openGazetteer } from '../../src/products/weather/places/gazetteer.ts'
import { openEndpoint } from '../../src/product/productDefinition.ts'
import { weather } from '../../src/products/weather/weather.ts'
import { type Answering, json, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { openProviderFixture } from '../support/providerFixture.ts'
import { errorBodies, kindOf, readSample, sampleAnswer, withField } from '../support/upstreamSample.ts'

const server = await startLoopbackProvider()
const setting = { url: server.url }
const london = { name: 'London', qualifiers: [] }

function open(answering: Answering) {
  server.answer(answering)
  const fixture = openProviderFixture({ OPEN_METEO_GEOCODING: setting })
  return { ...fixture, geocoding: createOpenMeteoGeocoding(fixture.deps) }
}

/** Answers of the geocoder for some places; its shortest is for a village in Austria. */
const places = (...results: readonly object[]) =>
  json({
    results: results.map((one) => ({
      name: 'Unterhof',
      latitude: 46.5,
      longitude: 14.25,
      feature_code: 'PPL',
      country_code: 'AT',
      country: 'Austria',
      admin1: 'Carinthia',
      ...one,
    })),
    generationtime_ms: 0.5,
  })
const asked = (name: string, ...qualifiers: readonly string[]) => ({ name, qualifiers })

describe('the geocoder of Open-Meteo', () => {
  test('is asked as its documentation says, and the largest is meant', async () => {
    const sample = readSample('open-meteo/geocode-london')
    const { geocoding, clock } = open(sampleAnswer('open-meteo/geocode-london', (body) => reversed(body)))
    const { data, asOfMs } = await geocoding.ask(london)
    const { city: name, country, countryCode, lat: latitude, lon: longitude } = Object(sample.expect['geo'])
    expect(data).toEqual({
      place: { name, country, countryCode, region: 'England', latitude, longitude },
      alternatives: [expect.objectContaining({ region: 'Ontario', countryCode: 'CA' })],
    })
    expect(Math.abs(clock.nowMs() - asOfMs)).toBeLessThan(5_000)
    const { pathname, search } = new URL(sample.request.url)
    expect(`${server.asked.at(-1)?.url.pathname}${server.asked.at(-1)?.url.search}`).toBe(`${pathname}${search}`)
  })

  test('knows none when there are no results at all', async () => {
    expect(await kindOf(open(sampleAnswer('open-meteo/geocode-none')).geocoding.ask(london))).toBe('not_found')
  })

  test.each([
    ['airports', { feature_code: 'AIRP' }],
    ['what is not said to be anything', { feature_code: undefined }],
    ['places of no country', { country_code: undefined }],
    ['places without both coordinates', { latitude: undefined, longitude: undefined }],
    ['larger places that only begin so', { name: 'Unterhofen', population: 90_000 }],
  ])('%s are not such places', async (_, change) => {
    expect(await kindOf(open(places(change)).geocoding.ask(asked('Unterhof')))).toBe('not_found')
    const { data } = await open(places(change, { latitude: 47 })).geocoding.ask(asked('Unterhof'))
    expect([data.place.latitude, data.alternatives]).toEqual([47, []])
  })

  test('a place on the meridian of Greenwich has no longitude on the wire', async () => {
    const { geocoding } = open(places({ longitude: undefined }))
    expect((await geocoding.ask(asked('Unterhof'))).data.place).toMatchObject({ latitude: 46.5, longitude: 0 })
  })

  test('another name for it also counts, if no place has it as its first name', async () => {
    const large = { name: 'Spodnji Dvor', population: 5_000 }
    const alone = await open(places(large)).geocoding.ask(asked('Unterhof'))
    expect(alone.data.place.name).toBe('Spodnji Dvor')
    const beside = await open(places(large, {})).geocoding.ask(asked('unterhof'))
    expect(beside.data.place.name).toBe('Unterhof')
  })

  test.each([
    [['Kärnten'], 'Unterhof,Kärnten', 'found'],
    [['Carinthia', 'AT'], 'Unterhof,Carinthia', 'found'],
    [['Carinthia', 'Österreich'], 'Unterhof,Carinthia', 'found'],
    [['Germany'], 'Unterhof,Germany', 'not_found'],
    [['Carinthia', 'Germany'], 'Unterhof,Carinthia', 'not_found'],
    [['Carinthia', 'Atlantis'], 'Unterhof,Carinthia', 'not_found'],
  ])('in %j is asked for as "%s", and the rest is looked at here', async (qualifiers, sent, outcome) => {
    const kind = await kindOf(open(places({})).geocoding.ask(asked('Unterhof', ...qualifiers)))
    expect(kind.startsWith('answered') ? 'found' : kind).toBe(outcome)
    expect(server.asked.at(-1)?.url.searchParams.get('name')).toBe(sent)
  })

  test.each([
    ['a question that it does not understand', json({ error: true, reason: 'Parameter count …' }, { status: 400 })],
    ['an object of nothing, which it never sends', json({})],
    [
      'a latitude beyond the pole',
      sampleAnswer('open-meteo/geocode-london', withField(['results', 0, 'latitude'], 91)),
    ],
    [
      'a place whose latitude and longitude are exchanged',
      places({ name: 'London', latitude: 14.25, longitude: 46.5 }),
    ],
  ])('%s makes no place, and none missing', async (_, answering) => {
    expect(await kindOf(open(answering).geocoding.ask(london))).toBe('bad_payload')
  })

  test.each(errorBodies)('answers with %s', async (_, answering, kind) => {
    expect(await kindOf(open(answering).geocoding.ask(london))).toBe(kind)
  })

  test('a limit of a day has it left alone for as long as we ever do', async () => {
    const reason = 'Daily API request limit exceeded. Please try again tomorrow.'
    const { geocoding, clock } = open(json({ error: true, reason }, { status: 429 }))
    expect(await kindOf(geocoding.ask(london))).toBe('rate_limited')
    clock.forward(14 * 60_000)
    expect(geocoding.whyUnavailable()).toBeDefined()
  })

  test('the key of an Open-Meteo customer goes with the question, and into no log line', async () => {
    server.answer(text('broken', { status: 500 }))
    const key = { apiKey: 'customer-key' }
    const { deps, lines } = openProviderFixture({ OPEN_METEO_GEOCODING: setting, OPEN_METEO: key })
    expect(await kindOf(createOpenMeteoGeocoding(deps).ask(london))).toBe('upstream')
    expect(server.asked.at(-1)?.url.searchParams.get('apikey')).toBe('customer-key')
    expect(lines.join()).not.toContain('customer-key')
  })
})

describe('the spelling of a city', () => {
  const endpoint = openEndpoint(weather, open(json({})).deps)

  test.each([
    "L'Aquila",
    'L’Aquila',
    'L‘Aquila',
    'L`Aquila',
    'L´Aquila',
    'Saint–Denis',
    'Saint‐Denis',
    'New\u00a0York',
    'Biel/Bienne',
  ])('may be %j, which is listed', (city) => {
    const ordered = endpoint.read({ city })
    expect(ordered).toMatchObject({ ok: true })
    expect(findPlace(openGazetteer(), city)).toMatchObject({ kind: 'found' })
  })

  test.each(['Paris;', 'Paris<b>', 'Paris?q=1', 'a\nb', '’', '—'])('cannot be %j', (city) => {
    expect(endpoint.read({ city }).ok).toBe(false)
  })
})

describe('a city that the local list does not have', () => {
  const job = { signal: new AbortController().signal, requestId: 'request', payer: 'wallet', payment: 'payment' }
  function openWeather() {
    const { deps, clock } = open(sampleAnswer('open-meteo/geocode-none'))
    const endpoint = openEndpoint(weather, deps)
    const order = (city: string) => {
      const ordered = endpoint.read({ city })
      if (!ordered.ok) throw new Error('the city is spelled legally')
      return ordered
    }
    return { clock, endpoint, order }
  }

  test('is missing for ten minutes after it was not found, and may exist before and after', async () => {
    const { order, clock } = openWeather()
    const { whyNoData, deliver } = order('Qwzxv')
    expect(whyNoData()).toBeUndefined()
    expect(await deliver(job)).toMatchObject({ code: 'NO_DATA', message: expect.stringContaining('"Qwzxv"') })
    expect(whyNoData()).toContain('"Qwzxv"')
    clock.forward(10 * 60_000 + 1_000)
    expect(whyNoData()).toBeUndefined()
  })

  test('is not on sale while the geocoder is left alone, unless it is known to be missing', async () => {
    const { order, endpoint } = openWeather()
    await order('Qwzxv').deliver(job)
    server.answer(text('slow down', { status: 429 }))
    const open = order('Mwvyx')
    expect(await open.deliver(job)).toMatchObject({ code: 'UPSTREAM_FAILED' })
    expect(open.whyUnavailable()).toContain('position of a city')
    expect(open.whyNoData()).toBeUndefined()
    expect(order('qwzxv').whyUnavailable()).toBeUndefined()
    expect(order('qwzxv').whyNoData()).toContain('"qwzxv"')
    expect([endpoint.whyUnavailable(), order('London').whyUnavailable()]).toEqual([undefined, undefined])
  })
})

function reversed(body: unknown): unknown {
  return { ...Object(body), results: Object(body).results.toReversed() }
}
