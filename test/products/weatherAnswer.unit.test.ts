import { describe, expect, test } from 'vitest'
import { openGazetteer } from '../../src/products/weather/places/gazetteer.ts'
import { placeNear } from '../../src/products/weather/places/findPlace.ts'
import { hottestCelsius } from '../../src/products/weather/providers/weatherAgreement.ts'
import { plausibleAir, refuseElsewhere, reportOf, windOf } from '../../src/products/weather/providers/weatherReport.ts'
import { weatherAnswer, weatherDataOf } from '../../src/products/weather/weatherAnswer.ts'
import { weatherParameters } from '../../src/products/weather/weatherParameters.ts'

const hour = 3_600_000
const fromMs = Date.parse('2026-11-20T13:00:00Z')
const london = { name: 'London', country: 'United Kingdom', countryCode: 'GB', latitude: 51.51, longitude: -0.13 }
const report = reportOf({
  celsius: 8.4,
  humidityPercent: 80,
  description: 'Light rain',
  air: {
    windMetersPerSecond: 5,
    windFromDegrees: 359.7,
    pressureHpa: 1012.4,
    precipitationMm: 2.54,
    cloudPercent: 97.7,
  },
  // Warmest in the second hour of each day.
  steps: Array.from({ length: 72 }, (_, at) => ({
    timeMs: fromMs + at * hour,
    celsius: new Date(fromMs + at * hour).getUTCHours() === 1 ? 10 : 5,
    precipitationMm: 0.5,
    windMetersPerSecond: at % 10,
  })),
})

describe('an order of weather', () => {
  test.each([
    ['nothing', {}],
    ['a city and a position', { city: 'London', latitude: '51.5', longitude: '0' }],
    ['half a position', { latitude: '51.5' }],
    ['a latitude beyond the pole', { latitude: '90.1', longitude: '0' }],
    ['an exponent', { latitude: '1e1', longitude: '0' }],
    ['an empty longitude', { latitude: '1', longitude: '' }],
    ['too many hours', { city: 'London', hours: '49' }],
    ['no days', { city: 'London', days: '0' }],
    ['a word for a flag', { city: 'London', details: 'yes' }],
    ['other units', { city: 'London', units: 'kelvin' }],
    ['an unknown parameter', { city: 'London', lat: '51.5' }],
  ])('of %s is refused', (_what, order) => {
    expect(weatherParameters.safeParse(order).success).toBe(false)
  })

  test('of a position may have the digits that a device prints', () => {
    const order = { latitude: '52.520006599999997', longitude: '-13.404953999999980' }
    expect(weatherParameters.parse(order)).toEqual({ latitude: 52.520006599999995, longitude: -13.40495399999998 })
  })

  test('of a city alone has no other member, so that its quotes stay as they were', () => {
    expect(weatherParameters.parse({ city: 'London' })).toEqual({ city: 'London' })
  })
})

describe('the answer', () => {
  test('has exactly the fields of the specification unless the order asks for more', () => {
    expect(weatherDataOf({ city: 'London' }, london, report)).toEqual({
      location: { city: 'London', country: 'United Kingdom' },
      current: { temperature: { celsius: 8.4, fahrenheit: 47.1 }, humidity: 80, description: 'Light rain' },
    })
  })

  test('has details in the units of the order', () => {
    const metric = weatherDataOf({ city: 'London', details: true }, london, report)
    expect(metric.units).toEqual({ windSpeed: 'm/s', pressure: 'hPa', precipitation: 'mm' })
    // 8.4 + 0.33 × 8.81 hPa − 0.7 × 5 m/s − 4.
    expect(metric.current).toMatchObject({
      feelsLike: { celsius: 3.8, fahrenheit: 38.9 },
      windSpeed: 5,
      windDirection: 0,
      pressure: 1012.4,
      precipitation: 2.54,
      cloudCover: 98,
    })
    const imperial = weatherDataOf({ city: 'London', details: true, units: 'imperial' }, london, report)
    expect(imperial.current).toMatchObject({ windSpeed: 11.2, pressure: 29.9, precipitation: 0.1 })
  })

  test('has hours, and days by the sun of the place', () => {
    const { hourly, daily } = weatherDataOf({ city: 'London', hours: 3, days: 2 }, london, report)
    expect(hourly?.map(({ time }) => time.slice(11, 16))).toEqual(['13:00', '14:00', '15:00'])
    expect(daily).toEqual([
      {
        date: '2026-11-20',
        minimum: { celsius: 5, fahrenheit: 41 },
        maximum: { celsius: 5, fahrenheit: 41 },
        windSpeed: 9,
        precipitation: 5.5,
      },
      expect.objectContaining({ date: '2026-11-21', maximum: { celsius: 10, fahrenheit: 50 }, precipitation: 12 }),
    ])
    // Without its evening, a day is incomplete.
    const short = { ...report, steps: report.steps?.slice(0, 5) ?? [] }
    expect(weatherDataOf({ city: 'London', days: 2 }, london, short).daily).toEqual([])
    expect(
      weatherDataOf({ city: 'London', days: 2 }, london, { ...short, steps: report.steps?.slice(0, 6) ?? [] }).daily,
    ).toHaveLength(1)
    const tokyo = weatherDataOf({ latitude: 35.68, longitude: 139.69, days: 2 }, london, report)
    expect(tokyo.location).toMatchObject({ latitude: 35.68, longitude: 139.69 })
    expect(tokyo.daily).toMatchObject([
      { date: '2026-11-20', precipitation: 1 },
      { date: '2026-11-21', maximum: { celsius: 10 } },
    ])
    for (const data of [tokyo, { hourly, ...tokyo }]) expect(weatherAnswer.safeParse(data).success).toBe(true)
  })
})

describe('figures', () => {
  test.each([
    [14.8, 'km/h', 4.11],
    [10, 'kn', 5.14],
    [10, 'mp/h', 4.47],
    [10, 'furlongs', undefined],
    [10, undefined, undefined],
    [null, 'm/s', undefined],
  ])('of wind are read in their unit: %s %s', (value, unit, expected) => {
    const wind = windOf(value, unit)
    expect(wind === undefined ? undefined : Math.round(wind * 100) / 100).toBe(expected)
  })

  test('that no air has are left out', () => {
    expect(Object.values(plausibleAir({ windMetersPerSecond: 300, pressureHpa: 10, cloudPercent: 101 }))).toEqual(
      Array.from({ length: 5 }, () => undefined),
    )
  })

  test.each([
    ['Lytton in June', 50.2, '2021-06-29', 49.6, true],
    ['Death Valley in July', 36.5, '2026-07-10', 56.7, true],
    ['Valencia in January', 39.7, '2024-01-25', 29.6, true],
    ['western Norway in January', 62.5, '2020-01-02', 19, true],
    ['Buenos Aires in January', -34.6, '2026-01-20', 43, true],
    ['London in November', 51.5, '2026-11-20', 47.1, false],
    ['Oslo in January', 59.9, '2026-01-20', 32, false],
  ])('of %s are possible or not', (_where, latitude, day, celsius, isPossible) => {
    expect(celsius <= hottestCelsius(latitude, Date.parse(day))).toBe(isPossible)
  })

  test('of another place are refused, except those of the same cell of the grid', () => {
    const fiji = { latitude: -17.8, longitude: 179.9 }
    expect(() => refuseElsewhere(fiji, { latitude: -17.75, longitude: -179.9 }, 0.5)).not.toThrow()
    expect(() => refuseElsewhere(fiji, { latitude: -17.75, longitude: 178 }, 0.5)).toThrow(/another place/)
  })
})

test('a position is named after the nearest city, or after itself', () => {
  const gazetteer = openGazetteer()
  expect(placeNear(gazetteer, { latitude: 52.51, longitude: 13.41 })).toMatchObject({ countryCode: 'DE' })
  expect(placeNear(gazetteer, { latitude: -48.9, longitude: -123.4 })).toMatchObject({
    name: '-48.9, -123.4',
    country: '',
  })
})
