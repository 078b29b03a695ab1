import { UpstreamFailure } from '../../../product/upstreamFailure.ts'

export interface WeatherQuery {
  readonly latitude: number
  readonly longitude: number
  /** Present if the report must contain `steps`. */
  readonly isForecast?: true
}

export interface WeatherReport {
  readonly temperature: { readonly celsius: number; readonly fahrenheit: number }
  readonly humidity: number
  readonly description: string
  readonly air: Air
  /** From now on, in ascending order. Absent if the query did not request a forecast. */
  readonly steps?: readonly ForecastStep[]
}

/** All figures are optional, because some providers do not report them. */
export interface Air {
  readonly windMetersPerSecond?: number | undefined
  readonly windFromDegrees?: number | undefined
  readonly pressureHpa?: number | undefined
  /** Rain and melted snow in millimetres: of the hour, or of a longer forecast step until the next step. */
  readonly precipitationMm?: number | undefined
  readonly cloudPercent?: number | undefined
}

export interface ForecastStep extends Air {
  readonly timeMs: number
  readonly celsius: number
  readonly humidityPercent?: number | undefined
  readonly description?: string | undefined
}

/** In the units that are sold, before validation. */
export interface MeasuredWeather {
  readonly celsius: number
  readonly humidityPercent: number
  readonly description: string
  readonly air?: Air
  readonly steps?: readonly ForecastStep[] | undefined
}

// Bounds of the temperature in °C: the coldest and hottest air ever measured, with a margin. Figures beyond the bounds
// are defects or have another unit.
const celsiusMin = -95
const celsiusMax = 65

/** True if air anywhere on Earth can have this temperature in °C. Defective sensors report other values. */
export function isOfAir(celsius: number): boolean {
  return celsius >= celsiusMin && celsius <= celsiusMax
}

// Reject a humidity of 1 % or less, because it is usually a fraction, such as 0.81 for 81 %.
const humidityPercentMin = 1

/**
 * Checks temperature and humidity, and returns the report without the implausible figures of `air`. Throws
 * `UpstreamFailure` for a temperature that air cannot have, and for a humidity of 1 % or less, or of more than 110 %.
 * Reports a humidity from 100 to 110 % as 100 %.
 */
export function reportOf({ celsius, humidityPercent, description, air = {}, steps }: MeasuredWeather): WeatherReport {
  if (!isOfAir(celsius) || humidityPercent <= humidityPercentMin || humidityPercent > 110)
    throw new UpstreamFailure('incomplete', 'a temperature or humidity that no air has')
  return {
    temperature: { celsius: tenths(celsius), fahrenheit: tenths(fahrenheitOf(celsius)) },
    humidity: Math.min(100, Math.round(humidityPercent)),
    description,
    air: plausibleAir(air),
    ...(steps === undefined ? {} : { steps }),
  }
}

// Plausible range of each figure: the extremes of wind, pressure and hourly rain ever measured, with a margin.
const ranges: Readonly<Record<keyof Air, readonly [min: number, max: number]>> = {
  windMetersPerSecond: [0, 120],
  windFromDegrees: [0, 360],
  pressureHpa: [860, 1100],
  precipitationMm: [0, 450],
  cloudPercent: [0, 100],
}

/** Removes implausible figures instead of failing: they are optional, so the rest of the report is still sold. */
export function plausibleAir(air: Air): Air {
  const keep = (field: keyof Air) => {
    const value = air[field]
    const [min, max] = ranges[field]
    return value !== undefined && value >= min && value <= max ? value : undefined
  }
  return {
    windMetersPerSecond: keep('windMetersPerSecond'),
    windFromDegrees: keep('windFromDegrees'),
    pressureHpa: keep('pressureHpa'),
    precipitationMm: keep('precipitationMm'),
    cloudPercent: keep('cloudPercent'),
  }
}

const metersPerSecond: Readonly<Record<string, number>> = {
  'm/s': 1,
  'km/h': 1 / 3.6,
  'mp/h': 0.44704,
  mph: 0.44704,
  kn: 1852 / 3600,
  kt: 1852 / 3600,
}

/** Converts a wind speed to metres per second. Undefined without a value, or if the unit is unknown. */
export function windOf(value: number | null | undefined, unit: string | undefined): number | undefined {
  const factor = metersPerSecond[unit ?? '']
  return value === null || value === undefined || factor === undefined ? undefined : value * factor
}

export function figureIn(value: number | null | undefined, isInUnit: boolean): number | undefined {
  return value === null || !isInUnit ? undefined : value
}

export function fahrenheitOf(celsius: number): number {
  return (celsius * 9) / 5 + 32
}

/** Rounds to one decimal. Adding 0 turns -0 into 0. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10 + 0
}

/** Rounds a coordinate to four decimals, a precision of about eleven metres, because MET Norway refuses more decimals. */
export function coordinate(degrees: number): string {
  return String(Number(degrees.toFixed(4)) + 0)
}

/** Refuses an answer for another position. `degreesMax` depends on the provider's grid, whose cells an answer describes. */
export function refuseElsewhere(
  asked: Pick<WeatherQuery, 'latitude' | 'longitude'>,
  answered: { readonly latitude?: number | undefined; readonly longitude?: number | undefined },
  degreesMax: number,
): void {
  const { latitude = asked.latitude, longitude = asked.longitude } = answered
  const east = Math.abs(((longitude - asked.longitude + 540) % 360) - 180)
  // Scale the distance by the latitude, because meridians converge towards the poles.
  const isFarEast = east * Math.cos((asked.latitude * Math.PI) / 180) > degreesMax
  if (Math.abs(latitude - asked.latitude) > degreesMax || isFarEast)
    throw new UpstreamFailure('bad_payload', 'the answer is of another place')
}
