import { hash } from 'node:crypto'
import { z } from 'zod'
import { baseUnits, describeShares, readMembers, share, usd } from './body.ts'
import { divideRoundingUp } from './rounding.ts'

/** A price from an event body. `problem` is the first error in its arithmetic, or undefined. */
export interface AuditedPrice extends StatedPrice {
  /** Shares as text, from `describeShares`. Equal texts mean equal lists of shares. */
  readonly sharesText: string
  /** SHA-256 of the canonical JSON of the price. Equal digests mean equal prices. */
  readonly digest: string
  readonly problem: string | undefined
}

type StatedPrice = z.infer<typeof statedPrice>

const statedPrice = z.strictObject({
  burnBaseUnits: baseUnits,
  decimals: z.int(),
  endpoint: z.string(),
  mint: z.string(),
  priceMicroUsd: usd,
  requiredBaseUnits: baseUnits,
  shares: z.array(share),
  /** Burn in the service token that a sale at this price in dollars owes. Absent: the sale owes none. */
  tokenBurn: z.strictObject({ mint: z.string(), baseUnits }).optional(),
  tokenPriceAttoUsd: usd,
})

// Maximum of cached prices. Consecutive payments share a few prices, so the cache saves most parses and checks.
const cacheMax = 1_000
const cache = new Map<string, AuditedPrice>()

export const price = z.unknown().transform(readPrice)

export function readPrice(value: unknown): AuditedPrice {
  const text = JSON.stringify(value)
  const known = cache.get(text)
  if (known !== undefined) return known
  const stated = readMembers(statedPrice, value)
  const sharesText = describeShares(stated.shares)
  const read = { ...stated, sharesText, digest: hash('sha256', text, 'base64url'), problem: findProblem(stated) }
  if (cache.size >= cacheMax) cache.clear()
  cache.set(text, read)
  return read
}

const decimalsMax = 18

/**
 * Returns the first error in the rules that do not depend on the split (docs/ledger.md). The required amount must be
 * ⌈price / token price⌉, and burn and shares must sum to it.
 */
function findProblem(price: StatedPrice): string | undefined {
  const { decimals, priceMicroUsd, tokenPriceAttoUsd, requiredBaseUnits, burnBaseUnits, shares } = price
  if (decimals < 0 || decimals > decimalsMax) return `${decimals} decimals`
  if (priceMicroUsd === 0n || tokenPriceAttoUsd === 0n) return 'a price of nothing'
  // Bring both prices to the same scale: `priceMicroUsd` has 6 decimals, and `tokenPriceAttoUsd` has 18.
  const scaled = priceMicroUsd * 10n ** BigInt(decimals + 12)
  const dueBaseUnits = divideRoundingUp(scaled, tokenPriceAttoUsd)
  if (dueBaseUnits !== requiredBaseUnits)
    return `required is ${requiredBaseUnits}, and ⌈price / token price⌉ is ${dueBaseUnits}`
  const sumBaseUnits = shares.reduce((sum, part) => sum + part.baseUnits, burnBaseUnits)
  if (sumBaseUnits !== dueBaseUnits) return `burn and shares sum to ${sumBaseUnits}, and ${dueBaseUnits} is required`
  if (new Set(shares.map(({ account }) => account)).size !== shares.length) return 'an account has two shares'
  return undefined
}
