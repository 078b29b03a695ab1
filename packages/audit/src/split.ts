import { z } from 'zod'
import { describeShares, type Share, shareName } from './body.ts'
import type { AuditedPrice } from './price.ts'
import { divideRoundingDown, divideRoundingUp } from './rounding.ts'

/**
 * Schema of the division of each payment, in thousandths of the required amount. The entry `burn` is burned, and the
 * others are accounts.
 */
export const split = z.array(z.strictObject({ account: shareName, perMille: z.int() }))

export type AuditedSplit = readonly Readonly<z.infer<typeof split>[number]>[]

const whole = 1_000
const burnEntry = 'burn'

/** Returns the error in a split. Undefined if the split is valid. */
export function findSplitProblem(split: AuditedSplit): string | undefined {
  const sum = split.reduce((total, { perMille }) => total + perMille, 0)
  if (sum !== whole) return `the split sums to ${sum} of ${whole}`
  if (split.some(({ perMille }) => perMille < 0)) return 'a part of the split is negative'
  if (new Set(split.map(({ account }) => account)).size !== split.length) return 'the split names an account twice'
  if (split.every(({ account }) => account === burnEntry)) return 'the split has no account'
  return undefined
}

/**
 * Returns how the burn and shares of a price differ from the split. Undefined if they agree. The burn is rounded up and
 * the shares down, and the first account receives the rest.
 */
export function findShareProblem(price: DividedPrice, split: AuditedSplit): string | undefined {
  const { requiredBaseUnits, burnBaseUnits, sharesText } = price
  const rightBurnBaseUnits = burnOf(requiredBaseUnits, split)
  if (rightBurnBaseUnits !== burnBaseUnits)
    return `the burn is ${burnBaseUnits}, and the split of ${requiredBaseUnits} burns ${rightBurnBaseUnits}`
  const right = describeShares(sharesOf(requiredBaseUnits, split))
  return sharesText === right
    ? undefined
    : `the shares are ${sharesText}, and the split of ${requiredBaseUnits} is ${right}`
}

export function perMilleOf(split: AuditedSplit, entry: string): number {
  return split.find(({ account }) => account === entry)?.perMille ?? 0
}

const treasuryEntry = 'treasury'

/** Returns the split for a price in dollars, which burns nothing: the treasury receives the burn's share in addition. */
export function dollarSplit(split: AuditedSplit): AuditedSplit {
  const burn = split.filter(({ account }) => account === burnEntry)
  const added = burn.reduce((sum, { perMille }) => sum + perMille, 0)
  const shares = split.filter(({ account }) => account !== burnEntry)
  return shares.some(({ account }) => account === treasuryEntry)
    ? shares.map((part) => (part.account === treasuryEntry ? { ...part, perMille: part.perMille + added } : part))
    : [...shares, { account: treasuryEntry, perMille: added }]
}

/** Returns the smallest amount, in base units, that leaves something to the accounts after the burn. */
export function smallestShared(split: AuditedSplit): bigint {
  const rest = BigInt(whole - perMilleOf(split, burnEntry))
  return rest === 0n ? 1n : divideRoundingUp(BigInt(whole), rest)
}

/** The part of a price that its split determines. */
export type DividedPrice = Pick<AuditedPrice, 'requiredBaseUnits' | 'burnBaseUnits' | 'sharesText'>

function burnOf(requiredBaseUnits: bigint, split: AuditedSplit): bigint {
  const perMille = BigInt(perMilleOf(split, burnEntry))
  // Round the burn up: the payer is promised at least this share.
  return divideRoundingUp(requiredBaseUnits * perMille, BigInt(whole))
}

function sharesOf(requiredBaseUnits: bigint, split: AuditedSplit): readonly Share[] {
  const accounts = split.filter(({ account }) => account !== burnEntry)
  const shares = accounts.map(({ account, perMille }) => {
    // Round down. The first share receives the rest below.
    return { account, baseUnits: divideRoundingDown(requiredBaseUnits * BigInt(perMille), BigInt(whole)) }
  })
  const othersBaseUnits = shares.slice(1).reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  const restBaseUnits = requiredBaseUnits - burnOf(requiredBaseUnits, split) - othersBaseUnits
  return shares.map((share, index) => (index === 0 ? { ...share, baseUnits: restBaseUnits } : share))
}

/** Returns the split as text. The order is kept, because the first account receives the rest. */
export function describeSplit(shares: AuditedSplit): string {
  return shares.map(({ account, perMille }) => `${account} ${perMille}`).join(', ')
}
