import { sha256 } from '@tollbook/core/digest'

const hourMs = 60 * 60 * 1000
// Periods of the two waves. Neither divides 24 hours, so no day repeats the previous day.
const longPeriodMs = 31 * hourMs
const shortPeriodMs = 5 * hourMs

/** Returns a number from -1 to 1. It depends only on seed and time, so that it is the same on every machine. */
export function drift(seed: string, atMs: number): number {
  const [first = 0, second = 0] = sha256(seed)
  const wave = (periodMs: number, phase: number) => Math.sin(2 * Math.PI * (atMs / periodMs + phase / 256))
  return (2 * wave(longPeriodMs, first) + wave(shortPeriodMs, second)) / 3
}

export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}
