import { LRUCache } from 'lru-cache'
import type { Clock } from '@tollbook/core/clock'
import type { Agreement } from '../askTogether.ts'
import { coordinate, type WeatherQuery, type WeatherReport } from './weatherReport.ts'

/*
 * Two models of the same hour, or a model and a station, differ by 1 to 3 °C, and by 5 °C in mountains. Celsius and Fahrenheit
 * differ by more than 6 °C above -32 °C.
 */
export const toleranceCelsius = 6
const toleranceHumidityPercent = 40
const toleranceWindMetersPerSecond = 12

const lastMs = 6 * 60 * 60 * 1000
const lastMax = 5_000
// A front or a foehn changes the air by about 10 °C in an hour or two.
const jumpCelsiusMax = 12

export function createWeatherAgreement(clock: Clock): Agreement<WeatherQuery, WeatherReport> {
  const perf = { now: () => clock.monotonicMs() }
  const agreed = new LRUCache<string, number>({ perf, ttlResolution: 0, max: lastMax, ttl: lastMs })
  const keyOf = ({ latitude, longitude }: WeatherQuery) => `${coordinate(latitude)},${coordinate(longitude)}`
  return {
    agree: agreeOnWeather,
    evidence: ({ temperature: { celsius }, humidity, air: { windMetersPerSecond } }) => ({
      celsius,
      humidity,
      ...(windMetersPerSecond === undefined ? {} : { windMetersPerSecond: Math.round(windMetersPerSecond * 10) / 10 }),
    }),
    whyImplausible({ latitude }, { temperature: { celsius } }) {
      const max = hottestCelsius(latitude, clock.nowMs())
      return celsius > max ? `${celsius} °C at latitude ${latitude.toFixed(0)} in this season` : undefined
    },
    whyDoubtful(query, { temperature: { celsius } }) {
      const last = agreed.get(keyOf(query))
      const isNear = last === undefined || Math.abs(celsius - last) <= jumpCelsiusMax
      return isNear ? undefined : `${celsius} °C after ${last} °C, which no other provider confirms`
    },
    noteAgreed: (query, { temperature }) => void agreed.set(keyOf(query), temperature.celsius),
  }
}

export function agreeOnWeather(one: WeatherReport, other: WeatherReport): boolean {
  const [wind, otherWind] = [one.air.windMetersPerSecond, other.air.windMetersPerSecond]
  const isWindAgreed =
    wind === undefined || otherWind === undefined || Math.abs(wind - otherWind) <= toleranceWindMetersPerSecond
  return (
    isWindAgreed &&
    Math.abs(one.temperature.celsius - other.temperature.celsius) <= toleranceCelsius &&
    Math.abs(one.humidity - other.humidity) <= toleranceHumidityPercent
  )
}

const dayMs = 24 * 60 * 60 * 1000
// The air follows the sun by about a month.
const solsticeMs = Date.UTC(2000, 5, 21) + 30 * dayMs
const yearMs = 365.2425 * dayMs
const tiltDegrees = 23.44

/**
 * Temperatures by the distance of the sun from the zenith at noon, in degrees. All are above the records of weather stations: 49.6 °C in
 * Lytton in June (28°), 29.6 °C in Spain in January (63°), 19 °C in Norway in January (86°).
 */
const hottest: readonly (readonly [sunDegrees: number, celsius: number])[] = [
  [0, 60],
  [30, 58],
  [50, 44],
  [63, 36],
  [86, 25],
  [100, 20],
  [120, 16],
]

/** The hottest air that this latitude can have at this time of the year. */
export function hottestCelsius(latitude: number, atMs: number): number {
  const declination = tiltDegrees * Math.cos((2 * Math.PI * (atMs - solsticeMs)) / yearMs)
  const sunDegrees = Math.abs(latitude - declination)
  const above = hottest.findIndex(([degrees]) => degrees >= sunDegrees)
  const [high, low] = [hottest[above], hottest[above - 1]]
  if (high === undefined) return 16
  if (low === undefined) return high[1]
  return low[1] + ((high[1] - low[1]) * (sunDegrees - low[0])) / (high[0] - low[0])
}
