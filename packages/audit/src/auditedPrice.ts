import type { BodyReader } from './bodyReader.ts'

/** A price as the book states it, and what is wrong with its arithmetic. */
export interface AuditedPrice {
  readonly endpoint: string
  readonly mint: string
  readonly decimals: number
  readonly requiredBaseUnits: bigint
  readonly burnBaseUnits: bigint
  readonly shares: Shares
  /** Its canonical text: two prices are the same when their texts are. */
  readonly text: string
  readonly problem: string | undefined
}

export interface Shares {
  readonly providerBaseUnits: bigint
  readonly holdersBaseUnits: bigint
  readonly treasuryBaseUnits: bigint
}

// Thousands of payments in a row have one of a few prices; what was read and reckoned once need not be again.
const cacheMax = 1_000
const cache = new Map<string, AuditedPrice>()

/** Reads a price where the reader stands. */
export function readPrice(reader: BodyReader): AuditedPrice {
  const start = reader.at
  const end = reader.text.indexOf('}', start) + 1
  const known = cache.get(reader.text.slice(start, end))
  if (known !== undefined) {
    reader.jumpTo(end)
    return known
  }
  const price = parsePrice(reader)
  if (cache.size >= cacheMax) cache.clear()
  cache.set(price.text, price)
  return price
}

// A token price is in 10^-18 dollars: 40 digits are more than all the money there is.
const usdDigitsMax = 40

function parsePrice(reader: BodyReader): AuditedPrice {
  const start = reader.at
  const burnBaseUnits = reader.amount('{"burnBaseUnits":')
  const decimals = reader.integer(',"decimals":')
  const endpoint = ownCopy(reader.string(',"endpoint":'))
  const holdersBaseUnits = reader.amount(',"holdersBaseUnits":')
  const mint = ownCopy(reader.plain(',"mint":'))
  const priceMicroUsd = reader.amount(',"priceMicroUsd":', usdDigitsMax)
  const providerBaseUnits = reader.amount(',"providerBaseUnits":')
  const requiredBaseUnits = reader.amount(',"requiredBaseUnits":')
  const tokenPriceAttoUsd = reader.amount(',"tokenPriceAttoUsd":', usdDigitsMax)
  const treasuryBaseUnits = reader.amount(',"treasuryBaseUnits":')
  reader.literal('}')
  const shares = { providerBaseUnits, holdersBaseUnits, treasuryBaseUnits }
  const stated = { endpoint, mint, decimals, requiredBaseUnits, burnBaseUnits, shares }
  const problem = findProblem({ ...stated, priceMicroUsd, tokenPriceAttoUsd })
  return { ...stated, text: ownCopy(reader.text.slice(start, reader.at)), problem }
}

interface Reckoning extends Omit<AuditedPrice, 'text' | 'problem'> {
  readonly priceMicroUsd: bigint
  readonly tokenPriceAttoUsd: bigint
}

const decimalsMax = 18
const baseUnitsMax = 2n ** 64n - 1n

/** The rules of docs/ledger.md: required = ⌈price / token price⌉, burn = ⌈30 %⌉, holders = ⌊15 %⌋, treasury = ⌊5 %⌋. */
function findProblem(price: Reckoning): string | undefined {
  const { decimals, priceMicroUsd, tokenPriceAttoUsd, requiredBaseUnits, burnBaseUnits, shares } = price
  if (decimals < 0 || decimals > decimalsMax) return `${decimals} decimals`
  if (priceMicroUsd === 0n || tokenPriceAttoUsd === 0n) return 'a price of nothing'
  if (requiredBaseUnits > baseUnitsMax) return 'more is required than tokens can exist'
  // Micro dollars have 6 decimals and token prices 18.
  const scaled = priceMicroUsd * 10n ** BigInt(decimals + 12)
  const required = (scaled + tokenPriceAttoUsd - 1n) / tokenPriceAttoUsd
  if (required !== requiredBaseUnits)
    return `required is ${requiredBaseUnits}, and ⌈price / token price⌉ is ${required}`
  const burn = burnOf(required)
  if (burn !== burnBaseUnits) return `the burn is ${burnBaseUnits}, and ⌈30 %⌉ of ${required} is ${burn}`
  const right = sharesOf(required)
  if (!sameShares(shares, right)) {
    return `the shares are ${describeShares(shares)}, and those of ${required} are ${describeShares(right)}`
  }
  return undefined
}

export function burnOf(requiredBaseUnits: bigint): bigint {
  return (requiredBaseUnits * 30n + 99n) / 100n
}

export function sharesOf(requiredBaseUnits: bigint): Shares {
  const holdersBaseUnits = (requiredBaseUnits * 15n) / 100n
  const treasuryBaseUnits = (requiredBaseUnits * 5n) / 100n
  const providerBaseUnits = requiredBaseUnits - burnOf(requiredBaseUnits) - holdersBaseUnits - treasuryBaseUnits
  return { providerBaseUnits, holdersBaseUnits, treasuryBaseUnits }
}

export function sameShares(one: Shares, other: Shares): boolean {
  return (
    one.providerBaseUnits === other.providerBaseUnits &&
    one.holdersBaseUnits === other.holdersBaseUnits &&
    one.treasuryBaseUnits === other.treasuryBaseUnits
  )
}

export function describeShares({ providerBaseUnits, holdersBaseUnits, treasuryBaseUnits }: Shares): string {
  return `${providerBaseUnits} / ${holdersBaseUnits} / ${treasuryBaseUnits}`
}

/** A slice keeps the whole body that it was cut from in memory; what is kept has to be a text of its own. */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}
