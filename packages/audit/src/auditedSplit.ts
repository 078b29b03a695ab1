import { type BodyReader } from './bodyReader.ts'
import { type AuditedPrice, describeShares, readAccountName, type Share } from './priceReader.ts'

/** How each payment is divided, in thousandths of what is required: the entry `burn`, then the accounts. */
export type AuditedSplit = readonly SplitEntry[]

export interface SplitEntry {
  readonly account: string
  readonly perMille: number
}

const whole = 1_000
const burnEntry = 'burn'

export function readSplit(reader: BodyReader, before: string): AuditedSplit {
  reader.literal(before)
  reader.literal('[')
  return reader.list(() => {
    const account = readAccountName(reader, '{"account":')
    const perMille = reader.integer(',"perMille":')
    reader.literal('}')
    return { account, perMille }
  })
}

/** Error of a split itself, or undefined. */
export function findSplitProblem(split: AuditedSplit): string | undefined {
  const sum = split.reduce((total, { perMille }) => total + perMille, 0)
  if (sum !== whole) return `the split sums to ${sum} of ${whole}`
  if (split.some(({ perMille }) => perMille < 0)) return 'a part of the split is negative'
  if (new Set(split.map(({ account }) => account)).size !== split.length) return 'the split names an account twice'
  if (split.every(({ account }) => account === burnEntry)) return 'the split has no account'
  return undefined
}

/** Does the price divide as the split says? The burn is rounded up, shares down, and the first account takes the rest. */
export function findShareProblem(price: DividedPrice, split: AuditedSplit): string | undefined {
  const { requiredBaseUnits: required, burnBaseUnits, sharesText } = price
  const burn = burnOf(required, split)
  if (burn !== burnBaseUnits) return `the burn is ${burnBaseUnits}, and the split of ${required} burns ${burn}`
  const right = describeShares(sharesOf(required, split))
  return sharesText === right ? undefined : `the shares are ${sharesText}, and the split of ${required} is ${right}`
}

type DividedPrice = Pick<AuditedPrice, 'requiredBaseUnits' | 'burnBaseUnits' | 'sharesText'>

function burnOf(requiredBaseUnits: bigint, split: AuditedSplit): bigint {
  const perMille = BigInt(split.find(({ account }) => account === burnEntry)?.perMille ?? 0)
  // Rounded up, as the share that is promised.
  return (requiredBaseUnits * perMille + BigInt(whole) - 1n) / BigInt(whole)
}

function sharesOf(requiredBaseUnits: bigint, split: AuditedSplit): readonly Share[] {
  const accounts = split.filter(({ account }) => account !== burnEntry)
  const shares = accounts.map(({ account, perMille }) => {
    // Rounded down: the first share takes the rest.
    return { account, baseUnits: (requiredBaseUnits * BigInt(perMille)) / BigInt(whole) }
  })
  const others = shares.slice(1).reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  const rest = requiredBaseUnits - burnOf(requiredBaseUnits, split) - others
  return shares.map((share, index) => (index === 0 ? { ...share, baseUnits: rest } : share))
}
