import { z } from 'zod'
import { weather } from '../../../src/products/weather/weather.ts'
import type { HonestReply } from './httpFaults.ts'
import { honestReply, openOrder, whyNot } from './priceStages.ts'
import type { Stage, StagedProvider } from './stage.ts'

const weatherData = (city: string, country: string, celsius: number) =>
  z.object({
    location: z.object({ city: z.literal(city), country: z.literal(country) }),
    current: z
      .object({
        temperature: z.object({ celsius: z.number(), fahrenheit: z.number() }),
        humidity: z.number().min(50).max(100),
        description: z
          .string()
          .regex(/^[A-Z][a-z ]+$/i)
          .max(60),
      })
      .refine(({ temperature }) => Math.abs(temperature.celsius - celsius) <= 6.3)
      .refine(({ temperature }) => Math.abs((temperature.celsius * 9) / 5 + 32 - temperature.fahrenheit) < 0.2),
  })

const metNorway = (change?: (text: string) => string): StagedProvider => ({
  name: 'MET_NORWAY',
  honest: honestReply('met-norway/compact-london', change),
  facts: { amounts: /air_temperature$/, current: /air_temperature$/, isTemperature: true },
})
const openMeteo = (change?: (text: string) => string): StagedProvider => ({
  name: 'OPEN_METEO',
  honest: honestReply('open-meteo/forecast-current-london', change),
  facts: { amounts: /^current\.(temperature_2m|apparent)/, current: /^current\.temp/, isTemperature: true },
})
/** Hallstatt, which is too small for the bundled list. */
const hallstatt: HonestReply = {
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify({
    results: [
      {
        name: 'Hallstatt',
        latitude: 47.56222,
        longitude: 13.64917,
        feature_code: 'PPL',
        country_code: 'AT',
        population: 752,
        country: 'Austria',
        admin1: 'Upper Austria',
      },
    ],
    generationtime_ms: 0.6,
  }),
}

const inNewYork = (text: string) =>
  [
    ['8.4', '6.9'],
    ['8.3', '6.6'],
    ['80.9', '68'],
    ['-0.1257,51.5085', '-74.006,40.7143'],
    ['"latitude":51.5,"longitude":-0.120000124', '"latitude":40.7,"longitude":-74.0'],
  ].reduce((changed, [from = '', to = '']) => changed.replaceAll(from, to), text)

export const weatherStages: readonly Stage[] = [
  {
    name: 'weather London',
    open: openOrder(weather, { city: 'London' }),
    whyWrong: whyNot(weatherData('London', 'United Kingdom', 8.4)),
    providers: [metNorway(), openMeteo()],
  },
  {
    name: 'weather New York',
    open: openOrder(weather, { city: 'New York' }),
    whyWrong: whyNot(weatherData('New York City', 'United States', 6.7)),
    providers: [metNorway(inNewYork), openMeteo(inNewYork)],
  },
  {
    name: 'weather Hallstatt',
    open: openOrder(weather, { city: 'Hallstatt' }),
    whyWrong: whyNot(weatherData('Hallstatt', 'Austria', 8.4)),
    providers: [
      { name: 'OPEN_METEO_GEOCODING', honest: hallstatt },
      { ...metNorway(), facts: undefined },
      { ...openMeteo(), facts: undefined },
    ],
  },
]
