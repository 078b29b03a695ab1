import { sha256 } from '@tollbook/core/digest'

const hourMs = 60 * 60 * 1000
// Two periods that do not divide each other, so that no day is like the one before.
const longPeriodMs = 31 * hourMs
const shortPeriodMs = 5 * hourMs

/** A number from -1 to 1 that wanders slowly: the same seed at the same moment is the same number, on every machine. */
export function drift(seed: string, atMs: number): number {
  const [first = 0, second = 0] = sha256(seed)
  const wave = (periodMs: number, phase: number) => Math.sin(2 * Math.PI * (atMs / periodMs + phase / 256))
  return (2 * wave(longPeriodMs, first) + wave(shortPeriodMs, second)) / 3
}

export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}

/** Prices of any size keep six digits. */
export function sixDigits(value: number): number {
  return Number(value.toPrecision(6))
}
