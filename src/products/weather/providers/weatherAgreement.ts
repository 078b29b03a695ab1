import type { Clock } from '@tollbook/core/clock'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Figures } from '../../../sourcing/agreement/figures.ts'
import type { AgreementRule } from '../../../sourcing/agreement/judgeReadings.ts'
import type { Provider } from '../../../sourcing/provider.ts'
import type { WeatherQuery, WeatherReport } from './weatherReport.ts'

export const weatherAgreement: AgreementRule = {
  main: 'celsius',
  /*
   * Two models of the same hour, or a model and a station, differ by 1 to 3 °C, and by 5 °C in mountains. A tolerance
   * of 6 detects confused units: above -32 °C, the same temperature in Celsius and Fahrenheit differs by more than 6.
   */
  tolerances: { celsius: { points: 6 }, humidity: { points: 40 }, windMetersPerSecond: { points: 12 } },
  // A weather front or a foehn wind changes the temperature by about 10 °C within an hour or two.
  jumps: { celsius: { points: 12 } },
}

/**
 * Adds the figures that are compared between providers. Throws `UpstreamFailure` for a temperature that is impossible
 * at the latitude and season.
 */
export function withFigures(
  clock: Clock,
  provider: Provider<WeatherQuery, WeatherReport>,
): Provider<WeatherQuery, WeatherReport> {
  return {
    ...provider,
    async ask(query) {
      const observation = await provider.ask(query)
      const { celsius } = observation.data.temperature
      if (celsius > hottestCelsius(query.latitude, clock.nowMs()))
        throw new UpstreamFailure('incomplete', `${provider.name}: too hot for the latitude and the season`)
      return { ...observation, figures: figuresOf(observation.data) }
    },
  }
}

function figuresOf({ temperature, humidity, air: { windMetersPerSecond } }: WeatherReport): Figures {
  const wind = windMetersPerSecond === undefined ? {} : { windMetersPerSecond }
  return { celsius: temperature.celsius, humidity, ...wind }
}

const dayMs = 24 * 60 * 60 * 1000
// The time of maximum heat in the northern summer: air temperatures follow the sun with a delay of about a month.
const solsticeMs = Date.UTC(2000, 5, 21) + 30 * dayMs
const yearMs = 365.2425 * dayMs
const tiltDegrees = 23.44

/**
 * Upper bounds of the temperature by the sun's distance from the zenith at noon, in degrees. All bounds exceed the
 * records of weather stations.
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

/** Returns the upper bound of the air temperature at this latitude and time of the year. */
export function hottestCelsius(latitude: number, atMs: number): number {
  const declination = tiltDegrees * Math.cos((2 * Math.PI * (atMs - solsticeMs)) / yearMs)
  const sunDegrees = Math.abs(latitude - declination)
  const above = hottest.findIndex(([degrees]) => degrees >= sunDegrees)
  const [high, low] = [hottest[above], hottest[above - 1]]
  if (high === undefined) return 16
  if (low === undefined) return high[1]
  return low[1] + ((high[1] - low[1]) * (sunDegrees - low[0])) / (high[0] - low[0])
}
