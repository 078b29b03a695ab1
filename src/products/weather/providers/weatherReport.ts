import { UpstreamFailure } from '../../../product/upstreamFailure.ts'

/** The place whose weather is requested. */
export interface WeatherQuery {
  readonly latitude: number
  readonly longitude: number
  /** Present if the report needs `steps`. */
  readonly isForecast?: true
}

/** The `current` member of an answer, and figures sold on request. */
export interface WeatherReport {
  readonly temperature: { readonly celsius: number; readonly fahrenheit: number }
  readonly humidity: number
  readonly description: string
  readonly air: Air
  /** Hours from now on, in ascending order. Absent if the query did not request them. */
  readonly steps?: readonly ForecastStep[]
}

/** Figures that some providers lack. */
export interface Air {
  readonly windMetersPerSecond?: number | undefined
  readonly windFromDegrees?: number | undefined
  readonly pressureHpa?: number | undefined
  /** Rain and melted snow within the hour. */
  readonly precipitationMm?: number | undefined
  readonly cloudPercent?: number | undefined
}

/** Weather at one time of a forecast. */
export interface ForecastStep extends Air {
  readonly timeMs: number
  readonly celsius: number
  readonly humidityPercent?: number | undefined
  readonly description?: string | undefined
}

/** Weather in the units of the answer, before validation. */
export interface MeasuredWeather {
  readonly celsius: number
  readonly humidityPercent: number
  readonly description: string
  readonly air?: Air
  readonly steps?: readonly ForecastStep[] | undefined
}

// Coldest and hottest air ever measured, with a margin. Figures beyond them are defects or in another unit.
const celsiusMin = -95
const celsiusMax = 65

/** True if air anywhere on Earth can have this temperature in °C. Failing sensors report other values. */
export function isOfAir(celsius: number): boolean {
  return celsius >= celsiusMin && celsius <= celsiusMax
}

// A humidity of at most 1 is a fraction, such as 0.81 for 81 %. Air that dry is measured once in years.
const humidityPercentMin = 1

/**
 * Builds a report. Throws `UpstreamFailure` for values that are impossible for air. A humidity up to 110 % counts as
 * 100 %.
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

// Fastest wind, lowest and highest pressure, and heaviest hour of rain ever measured, with a margin.
const ranges: Readonly<Record<keyof Air, readonly [min: number, max: number]>> = {
  windMetersPerSecond: [0, 120],
  windFromDegrees: [0, 360],
  pressureHpa: [860, 1100],
  precipitationMm: [0, 450],
  cloudPercent: [0, 100],
}

/** Removes impossible figures. They are optional, so a defect in one does not cost the report. */
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

/** Converts a speed from the unit in the answer. Undefined without a figure, or for an unknown unit. */
export function windOf(value: number | null | undefined, unit: string | undefined): number | undefined {
  const factor = metersPerSecond[unit ?? '']
  return value === null || value === undefined || factor === undefined ? undefined : value * factor
}

/** Returns a figure if it is in the unit that we sell; otherwise undefined. */
export function figureIn(value: number | null | undefined, isInUnit: boolean): number | undefined {
  return value === null || !isInUnit ? undefined : value
}

export function fahrenheitOf(celsius: number): number {
  return (celsius * 9) / 5 + 32
}

/** Adding 0 turns -0 into 0. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10 + 0
}

/** Formats a coordinate with four decimals, about eleven metres. MET Norway refuses more. */
export function coordinate(degrees: number): string {
  return String(Number(degrees.toFixed(4)) + 0)
}

/** Throws if an answer has another position than the requested one. `degreesMax` is the width of a grid cell. */
export function refuseElsewhere(
  asked: Pick<WeatherQuery, 'latitude' | 'longitude'>,
  answered: { readonly latitude?: number | undefined; readonly longitude?: number | undefined },
  degreesMax: number,
): void {
  const { latitude = asked.latitude, longitude = asked.longitude } = answered
  const east = Math.abs(((longitude - asked.longitude + 540) % 360) - 180)
  // Scale the distance by the latitude, because meridians meet at the poles.
  const isFarEast = east * Math.cos((asked.latitude * Math.PI) / 180) > degreesMax
  if (Math.abs(latitude - asked.latitude) > degreesMax || isFarEast)
    throw new UpstreamFailure('bad_payload', 'the answer is of another place')
}
