import { describe, expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { weather } from '../../src/products/weather/weather.ts'
import { type Answering, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { openProviderFixture } from '../support/providerFixture.ts'
import { sampleAnswer, sampleTimeMs, withField } from '../support/upstreamSample.ts'

const servers = {
  MET_NORWAY: await startLoopbackProvider(),
  OPEN_METEO: await startLoopbackProvider(),
}
const down = text('broken', { status: 500 })
const details = ['properties', 'timeseries', 1, 'data', 'instant', 'details']
const metNorway = (celsius: number) =>
  sampleAnswer('met-norway/compact-london', withField([...details, 'air_temperature'], celsius))
const openMeteo = (celsius: number) =>
  sampleAnswer('open-meteo/forecast-current-london', withField(['current', 'temperature_2m'], celsius))

interface Answers {
  readonly metNorway: Answering
  readonly openMeteo: Answering
}

function open(answers: Answers) {
  servers.MET_NORWAY.answer(answers.metNorway)
  servers.OPEN_METEO.answer(answers.openMeteo)
  const settings = Object.fromEntries(Object.entries(servers).map(([name, { url }]) => [name, { url }]))
  const fixture = openProviderFixture(settings, sampleTimeMs)
  const product = weather.open(fixture.deps)
  const orderOf = (order: Readonly<Record<string, string>>) => {
    const read = product.read(order)
    assert(read.ok, 'the order is valid')
    return read
  }
  const job = { signal: new AbortController().signal, requestId: 'r', payer: 'wallet', payment: 'payment' }
  return {
    ...fixture,
    orderOf,
    deliver: (order: Readonly<Record<string, string>> = { city: 'London' }) => orderOf(order).deliver(job),
  }
}

const celsiusOf = (data: unknown): unknown => Object(data).current.temperature.celsius

describe('the weather of a place', () => {
  test('names the providers that agree, the age of their figures, and the credits that are due', async () => {
    const { deliver } = open({ metNorway: metNorway(8.4), openMeteo: openMeteo(8.3) })
    const sold = await deliver()
    expect(sold).toMatchObject({
      kind: 'delivered',
      data: {
        current: { temperature: { celsius: 8.4, fahrenheit: 47.1 }, humidity: 81, description: 'Partly cloudy' },
      },
      meta: {
        source: 'met-norway',
        agreement: {
          kind: 'agreed',
          sources: [
            { source: 'met-norway', celsius: 8.4, asOf: '2026-11-20T13:00:00.000Z' },
            { source: 'open-meteo', celsius: 8.3, asOf: '2026-11-20T12:45:00.000Z' },
          ],
        },
        credits: [
          { text: 'Data from MET Norway (CC BY 4.0)' },
          { text: 'Weather data by Open-Meteo.com (CC BY 4.0)' },
          { text: 'Places by GeoNames (CC BY 4.0)' },
        ],
      },
    })
  })

  test('in Fahrenheit that is called Celsius is not sold, whichever provider says so', async () => {
    const answer = await open({ metNorway: metNorway(8.4), openMeteo: openMeteo(46.9) }).deliver()
    expect(answer).toMatchObject({ kind: 'delivered', meta: { agreement: { kind: 'single' } } })
    expect(celsiusOf(Object(answer).data)).toBe(8.4)
    const other = await open({ metNorway: metNorway(47.1), openMeteo: openMeteo(8.3) }).deliver()
    expect(other).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  })

  test.each([
    ['a cold place in Fahrenheit', 14, -10],
    ['another unit of humidity', 8.4, 8.3],
  ])('on which two providers differ is not sold: %s', async (what, one, other) => {
    const humidity = withField([...details, 'relative_humidity'], what.includes('humidity') ? 0.81 : 81)
    const celsius = withField([...details, 'air_temperature'], one)
    const { deliver } = open({
      metNorway: sampleAnswer('met-norway/compact-london', (body) => humidity(celsius(body))),
      openMeteo: openMeteo(other),
    })
    expect(await deliver()).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  })

  test('of one provider is sold and marked if its hours before and after say nearly the same', async () => {
    const sold = await open({ metNorway: metNorway(8.4), openMeteo: down }).deliver()
    expect(sold).toMatchObject({ kind: 'delivered', meta: { agreement: { kind: 'single' } } })
  })

  const dry = withField([...details, 'relative_humidity'], 8.09)
  test.each<[string, Answering, Answering]>([
    ['0 °C after an hour of 8.1 °C', metNorway(0), down],
    ['a humidity of a tenth of the hour before', sampleAnswer('met-norway/compact-london', dry), down],
    ['a figure without the hours around it', down, openMeteo(8.3)],
  ])('of one provider is not sold if nothing confirms it: %s', async (_what, one, other) => {
    expect(await open({ metNorway: one, openMeteo: other }).deliver()).toMatchObject({ code: 'UPSTREAM_FAILED' })
  })

  test.each([
    ['47.1 °C in London in November', 47.1],
    ['a temperature of no air', 99],
  ])('of one provider is not sold if no such weather occurs there: %s', async (_what, celsius) => {
    const { deliver } = open({ metNorway: metNorway(celsius), openMeteo: down })
    expect(await deliver()).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  })

  test('of one provider is not sold if it jumps away from what two providers said before', async () => {
    const { deliver, clock } = open({ metNorway: metNorway(8.4), openMeteo: openMeteo(8.3) })
    expect(await deliver()).toMatchObject({ meta: { agreement: { kind: 'agreed' } } })
    servers.MET_NORWAY.answer(metNorway(24))
    servers.OPEN_METEO.answer(down)
    clock.forward(11 * 60_000)
    expect(await deliver()).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    servers.MET_NORWAY.answer(metNorway(12))
    clock.forward(60_000)
    expect(await deliver()).toMatchObject({ meta: { agreement: { kind: 'last_known' } } })
  })

  test('is not quoted to a wallet with as many lookups in progress as it may have', async () => {
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    const hold: Answering = (response) => void released.then(() => response.writeHead(404).end())
    const { deliver, orderOf } = open({ metNorway: hold, openMeteo: hold })
    const at = (latitude: number) => ({ latitude: String(latitude), longitude: '0' })
    const begun = Array.from({ length: 20 }, (_, latitude) => deliver(at(latitude)))
    await new Promise(setImmediate)
    expect(orderOf(at(50)).whyUnavailable('wallet')).toMatch(/20 lookups in progress/)
    expect(orderOf(at(50)).whyUnavailable('another wallet')).toBeUndefined()
    release()
    await Promise.all(begun)
  })

  test('is not sold with a forecast that has no day', async () => {
    // The sample has one step, of the early afternoon.
    const { deliver } = open({ metNorway: metNorway(8.4), openMeteo: down })
    expect(await deliver({ city: 'London', days: '2' })).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    expect(await deliver({ city: 'London', hours: '1' })).toMatchObject({ kind: 'delivered' })
  })

  test('of another place is not sold', async () => {
    const oslo = withField(['geometry', 'coordinates'], [10.75, 59.91, 12])
    const { deliver } = open({
      metNorway: sampleAnswer('met-norway/compact-london', oslo),
      openMeteo: sampleAnswer('open-meteo/forecast-current-london', withField(['latitude'], 59.9)),
    })
    expect(await deliver()).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  })
})
