import { UpstreamFailure } from '../../../product/upstreamFailure.ts'

/** The place whose weather is asked for. */
export interface WeatherQuery {
  readonly latitude: number
  readonly longitude: number
  /** The report needs `steps`. */
  readonly isForecast?: true
}

/** `current` of the answer, and what is sold on request. */
export interface WeatherReport {
  readonly temperature: { readonly celsius: number; readonly fahrenheit: number }
  readonly humidity: number
  readonly description: string
  readonly air: Air
  /** Hours from now on, ascending. Absent: the query did not need them. */
  readonly steps?: readonly ForecastStep[]
}

/** Figures that not every provider has. */
export interface Air {
  readonly windMetersPerSecond?: number | undefined
  readonly windFromDegrees?: number | undefined
  readonly pressureHpa?: number | undefined
  /** Rain and melted snow of the hour. */
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

/** Weather in the units of the answer, before it is checked. */
export interface MeasuredWeather {
  readonly celsius: number
  readonly humidityPercent: number
  readonly description: string
  readonly air?: Air
  readonly steps?: readonly ForecastStep[] | undefined
}

// The coldest and hottest air ever measured, with a margin. Figures beyond are defects or another unit.
const celsiusMin = -95
const celsiusMax = 65

/** Whether a temperature in °C can be that of air anywhere on Earth. Sensors report others when they fail. */
export function isOfAir(celsius: number): boolean {
  return celsius >= celsiusMin && celsius <= celsiusMax
}

// Drier air is measured once in years. A figure of at most this is a fraction: 0.81 for 81 %.
const humidityPercentMin = 1

/** Throws `UpstreamFailure` for values that air cannot have. A humidity up to 110 % counts as 100 %. */
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

// The fastest wind, highest and lowest pressure and heaviest hour of rain ever measured, with a margin.
const ranges: Readonly<Record<keyof Air, readonly [min: number, max: number]>> = {
  windMetersPerSecond: [0, 120],
  windFromDegrees: [0, 360],
  pressureHpa: [860, 1100],
  precipitationMm: [0, 450],
  cloudPercent: [0, 100],
}

/** The figures without those that no air has. They are optional, so a defect of one does not cost the report. */
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

/** A speed in the unit that the answer states. Undefined without a figure, or in a unit that we do not know. */
export function windOf(value: number | null | undefined, unit: string | undefined): number | undefined {
  const factor = metersPerSecond[unit ?? '']
  return value === null || value === undefined || factor === undefined ? undefined : value * factor
}

/** A figure in the unit that we sell. Undefined without a figure, or in another unit. */
export function figureIn(value: number | null | undefined, isInUnit: boolean): number | undefined {
  return value === null || !isInUnit ? undefined : value
}

export function fahrenheitOf(celsius: number): number {
  return (celsius * 9) / 5 + 32
}

/** `+ 0` turns -0 into 0. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10 + 0
}

/** Four decimals, about eleven metres: MET Norway refuses more. */
export function coordinate(degrees: number): string {
  return String(Number(degrees.toFixed(4)) + 0)
}

/** Throws when an answer names another position than the one that was asked for. `degreesMax` is the width of a grid cell. */
export function refuseElsewhere(
  asked: Pick<WeatherQuery, 'latitude' | 'longitude'>,
  answered: { readonly latitude?: number | undefined; readonly longitude?: number | undefined },
  degreesMax: number,
): void {
  const { latitude = asked.latitude, longitude = asked.longitude } = answered
  const east = Math.abs(((longitude - asked.longitude + 540) % 360) - 180)
  // Meridians meet at the poles.
  const isFarEast = east * Math.cos((asked.latitude * Math.PI) / 180) > degreesMax
  if (Math.abs(latitude - asked.latitude) > degreesMax || isFarEast)
    throw new UpstreamFailure('bad_payload', 'the answer is of another place')
}
