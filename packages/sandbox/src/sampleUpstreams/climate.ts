import { drift, rounded } from './drift.ts'

/** Each of the two weather providers has its own codes of the sky. */
interface Sky {
  readonly cloudPercent: number
  readonly rainMm: number
  readonly metSymbol: string
  readonly wmoCode: number
}

const clear: Sky = { cloudPercent: 5, rainMm: 0, metSymbol: 'clearsky_day', wmoCode: 0 }
const skies: readonly Sky[] = [
  clear,
  { cloudPercent: 40, rainMm: 0, metSymbol: 'partlycloudy_day', wmoCode: 2 },
  { cloudPercent: 95, rainMm: 0, metSymbol: 'cloudy', wmoCode: 3 },
  { cloudPercent: 100, rainMm: 0.6, metSymbol: 'lightrain', wmoCode: 61 },
]

export interface Place {
  readonly latitude: number
  readonly longitude: number
}

const hourMs = 60 * 60 * 1000
const yearMs = 365.25 * 24 * hourMs
// Time from the start of the year to the coldest day of the northern hemisphere.
const coldestMs = 15 * 24 * hourMs

/** The weather is invented for any place on earth: warm at the equator, warmest in the early afternoon, cold in winter. */
export function weatherAt({ latitude, longitude }: Place, atMs: number) {
  const seed = `${latitude.toFixed(1)} ${longitude.toFixed(1)}`
  const inland = 18 * Math.min(1, Math.abs(latitude) / 60)
  const season = -Math.cos((2 * Math.PI * (atMs - coldestMs)) / yearMs) * Math.sign(latitude)
  const sun = Math.cos((2 * Math.PI * (atMs / hourMs + longitude / 15 - 14)) / 24)
  const weather = drift(seed, atMs)
  return {
    celsius: rounded(30 - 0.42 * Math.abs(latitude) + inland * season * 0.5 + 4 * sun + 3 * weather, 1),
    humidityPercent: rounded(65 - 15 * sun - 12 * weather, 1),
    windMetersPerSecond: rounded(4 + 3 * drift(`${seed} wind`, atMs), 1),
    windFromDegrees: rounded(180 + 179 * drift(`${seed} direction`, atMs), 1),
    pressureHpa: rounded(1013 + 10 * drift(`${seed} pressure`, atMs), 1),
    sky: skies[Math.floor((drift(`${seed} sky`, atMs) + 1) * 2)] ?? clear,
  }
}
