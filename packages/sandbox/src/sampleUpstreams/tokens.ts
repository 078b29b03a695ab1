import { drift, rounded } from './drift.ts'

/** A token on Solana with its figures at the three markets. */
export interface Token {
  readonly mint: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  readonly priceUsd: number
  readonly liquidityUsd: number
  readonly supply: number
}

export const solUsd = 150

const solNames = {
  mint: 'So11111111111111111111111111111111111111112',
  name: 'Wrapped SOL',
  symbol: 'SOL',
  decimals: 9,
}
const sol: Token = { ...solNames, priceUsd: solUsd, liquidityUsd: 800e6, supply: 560e6 }

/** Returns the payment token of this service and SOL. */
export function tokensWith(serviceMint: string): readonly Token[] {
  const names = { mint: serviceMint, name: 'Service Token (sample)', symbol: 'SVC', decimals: 6 }
  return [{ ...names, priceUsd: 0.001, liquidityUsd: 120_000, supply: 1e9 }, sol]
}

// Lower than the tolerance between sources, so that the three markets agree.
const swing = 0.01
const dayMs = 24 * 60 * 60 * 1000

/** Price of a token at one market. The markets differ slightly, by their `bias`. */
export function tokenPrice({ mint, priceUsd }: Token, atMs: number, bias: number): number {
  return Number((priceUsd * (1 + swing * drift(mint, atMs)) * (1 + bias)).toPrecision(9))
}

export function tokenChangePercent(token: Token, nowMs: number): number {
  return rounded((tokenPrice(token, nowMs, 0) / tokenPrice(token, nowMs - dayMs, 0) - 1) * 100, 4)
}

/** Formats a number without an exponent, however small it is. */
export function decimalText(value: number): string {
  return value.toFixed(12).replace(/\.?0+$/, '')
}
