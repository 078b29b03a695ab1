import { describe, expect, test } from 'vitest'
import { createMetNorway, describeSymbol } from '../../src/products/weather/providers/metNorway.ts'
import { createOpenMeteo } from '../../src/products/weather/providers/openMeteo.ts'
import type { WeatherQuery } from '../../src/products/weather/providers/weatherReport.ts'
import { type Answering, json, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { openProviderFixture } from '../support/providerFixture.ts'
import { errorBodies, kindOf, readSample, sampleAnswer, sampleTimeMs, withField } from '../support/upstreamSample.ts'

const london: WeatherQuery = { latitude: 51.50853, longitude: -0.12574 }
const newYork: WeatherQuery = { latitude: 40.7128, longitude: -74.006 }

/** Figures and time of a sample. */
function expected(name: string) {
  const { celsius, fahrenheit, humidity, description, asOf } = Object(readSample(name).expect['ok'])
  return { data: { temperature: { celsius, fahrenheit }, humidity, description }, asOfMs: Date.parse(asOf) }
}

const server = await startLoopbackProvider()
const setting = { url: server.url }

function open(answering: Answering) {
  server.answer(answering)
  const fixture = openProviderFixture({ MET_NORWAY: setting, OPEN_METEO: setting }, sampleTimeMs)
  const askedBefore = server.asked.length
  return {
    ...fixture,
    metNorway: createMetNorway(fixture.deps),
    openMeteo: createOpenMeteo(fixture.deps),
    asked: () => server.asked.slice(askedBefore),
  }
}

describe('units', () => {
  test.each([
    ['fahrenheit', ['properties', 'meta', 'units', 'air_temperature'], 'fahrenheit'],
    ['none', ['properties', 'meta', 'units', 'air_temperature'], undefined],
    ['a fraction for the humidity', ['properties', 'meta', 'units', 'relative_humidity'], '1'],
  ])('of MET Norway are read: %s', async (_what, path, unit) => {
    const { metNorway } = open(sampleAnswer('met-norway/compact-london', withField(path, unit)))
    expect(await kindOf(metNorway.ask(london))).toBe('bad_payload')
  })

  test.each([
    ['none for the temperature', 'temperature_2m', undefined],
    ['Fahrenheit', 'temperature_2m', '°F'],
    ['a fraction for the humidity', 'relative_humidity_2m', 'fraction'],
  ])('of Open-Meteo are read: %s', async (_what, field, unit) => {
    const { openMeteo } = open(
      sampleAnswer('open-meteo/forecast-current-london', withField(['current_units', field], unit)),
    )
    expect(await kindOf(openMeteo.ask(london))).toBe('bad_payload')
  })
})

describe('MET Norway', () => {
  const sample = 'met-norway/compact-london'
  const details = ['properties', 'timeseries', 1, 'data', 'instant', 'details']

  test('gives the step that is nearest to now, with four decimals and a contact in the question', async () => {
    const { metNorway, asked } = open(sampleAnswer(sample))
    expect(await metNorway.ask(london)).toMatchObject(expected(sample))
    const [question] = asked()
    expect(`${question?.url.pathname}${question?.url.search}`).toBe(
      new URL(readSample(sample).request.url).pathname + new URL(readSample(sample).request.url).search,
    )
    expect(question?.headers['user-agent']).toMatch(/^Tollbook\/\S+ \(\+ops@example.org\)$/)
  })

  test('is not asked again before it expires, and then only for what has changed', async () => {
    const { metNorway, clock, asked } = open(sampleAnswer(sample))
    const first = await metNorway.ask(london)
    server.answer(text('', { status: 304, headers: { expires: 'Fri, 20 Nov 2026 13:20:00 GMT' } }))
    expect(await metNorway.ask(london)).toEqual(first)
    expect(asked()).toHaveLength(1)
    clock.forward(60_000)
    expect((await metNorway.ask(london)).data).toEqual(first.data)
    clock.forward(60_000)
    await metNorway.ask(london)
    expect(asked().map(({ headers }) => headers['if-modified-since'])).toEqual([
      undefined,
      'Fri, 20 Nov 2026 12:19:02 GMT',
    ])
  })

  test('is asked again two hours later, however far ahead it says that it expires', async () => {
    const expires = 'Fri, 27 Nov 2026 12:00:00 GMT'
    const { metNorway, clock, asked } = open(json(readSample(sample).response.body, { headers: { expires } }))
    await metNorway.ask(london)
    clock.forward(2 * 3_600_000 - 1_000)
    await metNorway.ask(london)
    expect(asked()).toHaveLength(1)
    clock.forward(2_000)
    await metNorway.ask(london)
    expect(asked()).toHaveLength(2)
  })

  test('is asked for all of its forecast once the last step has passed', async () => {
    const { metNorway, clock, asked } = open(sampleAnswer(sample))
    await metNorway.ask(london)
    const conditions: unknown[] = []
    for (const days of [3, 7]) {
      clock.forward(days * 24 * 3_600_000)
      await metNorway.ask(london).catch(() => undefined)
      conditions.push(asked().at(-1)?.headers['if-modified-since'])
    }
    expect(conditions).toEqual([readSample(sample).response.headers['last-modified'], undefined])
  })

  test('forecasts from the nearest step on', async () => {
    const { metNorway } = open(sampleAnswer(sample))
    const { data } = await metNorway.ask({ ...london, isForecast: true })
    expect(data.steps?.[0]).toMatchObject({ timeMs: Date.parse('2026-11-20T13:00:00Z'), celsius: 8.4 })
  })

  test('a version that is going away answers as before and is logged once', async () => {
    const { body, headers } = readSample(sample).response
    const { metNorway, clock, lines } = open(json(body, { status: 203, headers }))
    expect(await metNorway.ask(london)).toMatchObject(expected(sample))
    clock.forward(120_000)
    await metNorway.ask(london)
    expect(lines.filter((line) => line.includes('upstream_deprecated'))).toHaveLength(1)
  })

  test.each([
    ['no temperature', [...details, 'air_temperature'], 'incomplete'],
    ['no humidity', [...details, 'relative_humidity'], 'incomplete'],
    ['no sky', ['properties', 'timeseries', 1, 'data', 'next_1_hours', 'summary'], 'incomplete'],
    ['no steps', ['properties', 'timeseries'], 'bad_payload'],
  ])('%s is not a report', async (_, path, kind) => {
    const { metNorway } = open(sampleAnswer(sample, withField(path, undefined)))
    expect(await kindOf(metNorway.ask(london))).toBe(kind)
  })

  test('the sky of the next six hours stands in for that of the next one', async () => {
    const { metNorway } = open(
      sampleAnswer(sample, withField(['properties', 'timeseries', 1, 'data', 'next_1_hours'], undefined)),
    )
    expect((await metNorway.ask(london)).data.description).toBe('Cloudy')
  })

  test('a forecast that ended hours ago is none', async () => {
    const { metNorway, clock } = open(sampleAnswer(sample))
    clock.forward(24 * 3_600_000)
    expect(await kindOf(metNorway.ask(london))).toBe('incomplete')
  })

  test.each([
    ['403 without a User-Agent', text('403 Forbidden', { status: 403 }), 'blocked'],
    ['429', sampleAnswer('met-norway/throttled-429'), 'rate_limited'],
    ['404, which does not mention the city', text('', { status: 404 }), 'bad_payload'],
    ['304 that was not asked for', text('', { status: 304 }), 'bad_payload'],
  ])('%s', async (_, answering, kind) => {
    expect(await kindOf(open(answering).metNorway.ask(london))).toBe(kind)
  })

  test.each([
    ['clearsky_day', 'Clear sky'],
    ['partlycloudy_polartwilight', 'Partly cloudy'],
    ['fog', 'Fog'],
    ['rain', 'Rain'],
    ['heavysnowshowers_night', 'Heavy snow showers'],
    ['lightrainandthunder', 'Light rain and thunder'],
    ['lightssleetshowersandthunder_day', 'Light sleet showers and thunder'],
    ['lightssnowshowersandthunder_night', 'Light snow showers and thunder'],
    ['lightsleetshowersandthunder', 'Light sleet showers and thunder'],
  ])('says %s as "%s"', (symbol, words) => {
    expect(describeSymbol(symbol)).toBe(words)
  })

  test.each(['', 'frogs', 'constructor', 'rainbow_day'])('does not invent words for "%s"', (symbol) => {
    expect(() => describeSymbol(symbol)).toThrow(/symbol/)
  })
})

test('hours of Open-Meteo begin with the running one, and each has the precipitation until the next', async () => {
  const units = { temperature_2m: '°C', relative_humidity_2m: '%', precipitation: 'mm' }
  const hourly = {
    // The current figures are of 12:45, and the hours of 11:00 to 14:00.
    time: [1_795_172_400, 1_795_176_000, 1_795_179_600, 1_795_183_200],
    temperature_2m: [6, 7, 8, 9],
    precipitation: [9, 1, 2, 3],
  }
  const fields = (body: unknown) => withField(['hourly'], hourly)(withField(['hourly_units'], units)(body))
  const { openMeteo } = open(sampleAnswer('open-meteo/forecast-current-london', fields))
  const { data } = await openMeteo.ask({ ...london, isForecast: true })
  expect(data.steps?.map(({ celsius, precipitationMm }) => [celsius, precipitationMm])).toEqual([
    [7, 2],
    [8, 3],
    [9, undefined],
  ])
})

describe('Open-Meteo', () => {
  const sample = 'open-meteo/forecast-current-london'

  test('gives the current figures and asks for unix time', async () => {
    const { openMeteo, asked } = open(sampleAnswer(sample))
    expect(await openMeteo.ask(london)).toMatchObject(expected(sample))
    const { pathname, searchParams } = asked()[0]?.url ?? new URL(server.url)
    expect(pathname).toBe('/v1/forecast')
    expect(Object.fromEntries(searchParams)).toMatchObject({
      latitude: '51.50853',
      longitude: '-0.12574',
      timeformat: 'unixtime',
      timezone: 'UTC',
    })
    expect(searchParams.has('apikey')).toBe(false)
  })

  test('reads a local time by the offset of the answer, never by that of this machine', async () => {
    const local = withField(['current', 'time'], '2026-11-20T13:45')
    const { openMeteo } = open(sampleAnswer(sample, (body) => withField(['utc_offset_seconds'], 3_600)(local(body))))
    expect((await openMeteo.ask(london)).asOfMs).toBe(Date.parse('2026-11-20T12:45:00Z'))
  })

  test('showers that are dry at the moment are still showers', async () => {
    const { openMeteo } = open(sampleAnswer(sample, withField(['current', 'weather_code'], 80)))
    expect((await openMeteo.ask(london)).data.description).toBe('Slight rain showers')
  })

  test.each([
    ['no temperature', ['current', 'temperature_2m'], null, 'incomplete'],
    ['no humidity', ['current', 'relative_humidity_2m'], undefined, 'incomplete'],
    ['an undefined code', ['current', 'weather_code'], 42, 'incomplete'],
    ['degrees of another scale', ['current_units', 'temperature_2m'], '°F', 'bad_payload'],
    ['a temperature of no air', ['current', 'temperature_2m'], 999, 'incomplete'],
    ['a humidity of no air', ['current', 'relative_humidity_2m'], 0.81, 'incomplete'],
    ['a humidity of 100 % as a fraction', ['current', 'relative_humidity_2m'], 1, 'incomplete'],
    ['a time that is none', ['current', 'time'], 'noon', 'bad_payload'],
  ])('%s', async (_, path, value, kind) => {
    const { openMeteo } = open(sampleAnswer(sample, withField(path, value)))
    expect(await kindOf(openMeteo.ask(london))).toBe(kind)
  })

  test.each([
    ['Minutely API request limit exceeded. Please try again in one minute.', 60_000],
    ['Hourly API request limit exceeded. Please try again in the next hour.', 15 * 60_000],
    ['Daily API request limit exceeded. Please try again tomorrow.', 15 * 60_000],
  ])('is left alone after "%s"', async (reason, restMs) => {
    const { openMeteo, clock } = open(json({ reason, error: true }, { status: 429 }))
    expect(await kindOf(openMeteo.ask(london))).toBe('rate_limited')
    clock.forward(restMs - 5_000)
    expect(openMeteo.whyUnavailable()).toBeDefined()
    clock.forward(6_000)
    expect(openMeteo.whyUnavailable()).toBeUndefined()
  })

  test('a question that it does not understand is our fault and not the city’s', async () => {
    const refusal = json({ error: true, reason: 'Latitude must be in range of -90 to 90°.' }, { status: 400 })
    expect(await kindOf(open(refusal).openMeteo.ask(london))).toBe('bad_payload')
  })

  test('a customer’s key goes with the question, and into no log line', async () => {
    server.answer(text('broken', { status: 500 }))
    const { deps, lines } = openProviderFixture({ OPEN_METEO: { ...setting, apiKey: 'customer-key' } }, sampleTimeMs)
    expect(await kindOf(createOpenMeteo(deps).ask(london))).toBe('upstream')
    expect(server.asked.at(-1)?.url.searchParams.get('apikey')).toBe('customer-key')
    expect(lines.join()).not.toContain('customer-key')
  })
})

describe.each(['metNorway', 'openMeteo'] as const)('%s', (name) => {
  test.each(errorBodies.filter(([what]) => !what.includes('404')))('answers with %s', async (_, answering, kind) => {
    expect(await kindOf(open(answering)[name].ask(newYork))).toBe(kind)
  })
})
