import { z } from 'zod'
import { isoTime } from '@tollbook/core/clock'
import type { PlaceRecord } from './places/findPlace.ts'
import { type Air, fahrenheitOf, type ForecastStep, tenths, type WeatherReport } from './providers/weatherReport.ts'
import { daysMax, hoursMax, type WeatherOrder } from './weatherParameters.ts'

const temperature = z.object({ celsius: z.number(), fahrenheit: z.number() })
/** A figure is absent if the provider does not report it. */
const air = z.object({
  windSpeed: z.number().optional(),
  windDirection: z.number().optional().meta({ description: 'degrees from which it blows' }),
  pressure: z.number().optional().meta({ description: 'at sea level' }),
  precipitation: z.number().optional(),
  cloudCover: z.number().optional().meta({ description: 'per cent' }),
})

export const weatherAnswer = z.object({
  location: z.object({
    city: z.string().meta({ description: 'of a position, the nearest place within 100 km' }),
    country: z.string(),
    latitude: z.number().optional().meta({ description: 'the requested one' }),
    longitude: z.number().optional(),
  }),
  current: z.object({
    temperature,
    humidity: z.number().meta({ description: 'per cent' }),
    description: z.string().meta({ description: 'conditions, in words' }),
    feelsLike: temperature.optional().meta({ description: 'apparent temperature in the shade; with details=true' }),
    ...air.shape,
  }),
  units: z
    .object({ windSpeed: z.string(), pressure: z.string(), precipitation: z.string() })
    .optional()
    .meta({ description: 'with details, hours or days' }),
  hourly: z
    .array(
      z.object({
        time: z.iso.datetime(),
        temperature,
        humidity: z.number().optional(),
        description: z.string().optional(),
        ...air.shape,
      }),
    )
    .max(hoursMax + 1)
    .optional(),
  daily: z
    .array(
      z.object({
        date: z.iso
          .date()
          .meta({ description: 'by the hour of the sun at the place, which may differ from the clocks by two hours' }),
        minimum: temperature,
        maximum: temperature,
        precipitation: z.number().optional().meta({ description: 'sum' }),
        windSpeed: z.number().optional().meta({ description: 'maximum' }),
      }),
    )
    .max(daysMax)
    .optional(),
})

export type WeatherData = z.infer<typeof weatherAnswer>

export function weatherDataOf(order: WeatherOrder, place: PlaceRecord, report: WeatherReport) {
  const { latitude, longitude, details = false, hours, days, units = 'metric' } = order
  const scale = scales[units]
  const { temperature: current, humidity, description, steps = [] } = report
  const isMore = details || hours !== undefined || days !== undefined
  return {
    location: {
      city: place.name,
      country: place.country,
      ...(latitude === undefined || longitude === undefined ? {} : { latitude, longitude }),
    },
    current: {
      temperature: current,
      humidity,
      description,
      ...(details ? { ...feelsLikeOf(report), ...shownAir(report.air, scale) } : {}),
    },
    ...(isMore ? { units: scale.names } : {}),
    ...(hours === undefined ? {} : { hourly: hoursOf(steps, { hours, scale }) }),
    ...(days === undefined ? {} : { daily: daysOf(steps, { days, scale, longitude: longitude ?? place.longitude }) }),
  }
}

interface Scale {
  readonly names: { readonly windSpeed: string; readonly pressure: string; readonly precipitation: string }
  readonly wind: number
  readonly pressure: number
  readonly precipitation: number
}

const scales: Readonly<Record<NonNullable<WeatherOrder['units']>, Scale>> = {
  metric: {
    names: { windSpeed: 'm/s', pressure: 'hPa', precipitation: 'mm' },
    wind: 1,
    pressure: 1,
    precipitation: 1,
  },
  imperial: {
    names: { windSpeed: 'mph', pressure: 'inHg', precipitation: 'in' },
    wind: 1 / 0.44704,
    pressure: 0.029529983,
    precipitation: 1 / 25.4,
  },
}

function shownAir(report: Air, scale: Scale) {
  const { windMetersPerSecond: wind, windFromDegrees, pressureHpa, precipitationMm, cloudPercent } = report
  return {
    ...(wind === undefined ? {} : { windSpeed: tenths(wind * scale.wind) }),
    ...(windFromDegrees === undefined ? {} : { windDirection: Math.round(windFromDegrees) % 360 }),
    ...(pressureHpa === undefined ? {} : { pressure: hundredths(pressureHpa * scale.pressure) }),
    ...(precipitationMm === undefined ? {} : { precipitation: hundredths(precipitationMm * scale.precipitation) }),
    ...(cloudPercent === undefined ? {} : { cloudCover: Math.round(cloudPercent) }),
  }
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100
}

function shownTemperature(celsius: number) {
  return { celsius: tenths(celsius), fahrenheit: tenths(fahrenheitOf(celsius)) }
}

/**
 * Returns the apparent temperature in the shade, by Steadman (1994), as the Australian Bureau of Meteorology computes
 * it. Empty if the wind is unknown.
 */
function feelsLikeOf({ temperature: { celsius }, humidity, air: { windMetersPerSecond: wind } }: WeatherReport) {
  if (wind === undefined) return {}
  const vapourHpa = (humidity / 100) * 6.105 * Math.exp((17.27 * celsius) / (237.7 + celsius))
  return { feelsLike: shownTemperature(celsius + 0.33 * vapourHpa - 0.7 * wind - 4) }
}

const hourMs = 60 * 60 * 1000

function hoursOf(steps: readonly ForecastStep[], { hours, scale }: { readonly hours: number; readonly scale: Scale }) {
  const [first] = steps
  const untilMs = (first?.timeMs ?? 0) + hours * hourMs
  return steps
    .filter(({ timeMs }) => timeMs < untilMs)
    .map(({ timeMs, celsius, humidityPercent, description, ...step }) => ({
      time: isoTime(timeMs),
      temperature: shownTemperature(celsius),
      ...(humidityPercent === undefined ? {} : { humidity: Math.min(100, Math.round(humidityPercent)) }),
      ...(description === undefined ? {} : { description }),
      ...shownAir(step, scale),
    }))
}

interface Days {
  readonly days: number
  readonly scale: Scale
  readonly longitude: number
}

/**
 * Returns the days of the forecast. Omits days without a step in the evening, because they are incomplete. The first
 * day has only its remaining hours.
 */
function daysOf(steps: readonly ForecastStep[], { days, scale, longitude }: Days) {
  const solarMs = Math.round(longitude / 15) * hourMs
  const byDate = Map.groupBy(steps, ({ timeMs }) => isoTime(timeMs + solarMs).slice(0, 10))
  return [...byDate]
    .filter(([, of]) => new Date((of.at(-1)?.timeMs ?? 0) + solarMs).getUTCHours() >= 18)
    .slice(0, days)
    .map(([date, of]) => {
      const degrees = of.map(({ celsius }) => celsius)
      const winds = of.flatMap(({ windMetersPerSecond: wind }) => (wind === undefined ? [] : [wind]))
      const rains = of.flatMap(({ precipitationMm }) => (precipitationMm === undefined ? [] : [precipitationMm]))
      return {
        date,
        minimum: shownTemperature(Math.min(...degrees)),
        maximum: shownTemperature(Math.max(...degrees)),
        ...shownAir(
          {
            windMetersPerSecond: winds.length === 0 ? undefined : Math.max(...winds),
            precipitationMm: rains.length === 0 ? undefined : rains.reduce((sum, rain) => sum + rain, 0),
          },
          scale,
        ),
      }
    })
}
