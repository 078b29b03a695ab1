import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'

/** What the weather of a place is asked by. */
export interface WeatherQuery {
  readonly countryCode: string
  readonly latitude: number
  readonly longitude: number
}

/** `current` of the answer, as it is sold. */
export type WeatherReport = {
  readonly temperature: { readonly celsius: number; readonly fahrenheit: number }
  readonly humidity: number
  readonly description: string
}

export interface Measured {
  readonly celsius: number
  readonly humidityPercent: number
  readonly description: string
}

// The coldest and hottest air ever measured, with a margin: beyond them it is a flaw of the data, or another unit.
const celsiusMin = -95
const celsiusMax = 65

export function reportOf({ celsius, humidityPercent, description }: Measured): WeatherReport {
  if (celsius < celsiusMin || celsius > celsiusMax || humidityPercent < 0 || humidityPercent > 110)
    throw new UpstreamFailure('incomplete', 'a temperature or humidity that no air has')
  return {
    temperature: { celsius: tenths(celsius), fahrenheit: tenths((celsius * 9) / 5 + 32) },
    humidity: Math.min(100, Math.round(humidityPercent)),
    description,
  }
}

/** `+ 0` because there is no -0 degrees. */
function tenths(value: number): number {
  return Math.round(value * 10) / 10 + 0
}

/** Four decimals, some eleven metres: more is refused by MET Norway, and trailing zeros are redirected by NWS. */
export function coordinate(degrees: number): string {
  return String(Number(degrees.toFixed(4)) + 0)
}
