import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'

/** The place whose weather is asked for. */
export interface WeatherQuery {
  readonly countryCode: string
  readonly latitude: number
  readonly longitude: number
}

/** `current` of the answer. */
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

// The coldest and hottest air ever measured, with a margin. Figures beyond are defects or another unit.
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

/** `+ 0` turns -0 into 0. */
function tenths(value: number): number {
  return Math.round(value * 10) / 10 + 0
}

/** Four decimals, about eleven metres: MET Norway refuses more, and NWS redirects trailing zeros. */
export function coordinate(degrees: number): string {
  return String(Number(degrees.toFixed(4)) + 0)
}
