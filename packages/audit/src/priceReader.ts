import { type BodyReader, UnreadableBody } from './bodyReader.ts'

/** A price as the ledger states it, and what is wrong with its own arithmetic. */
export interface AuditedPrice {
  readonly endpoint: string
  readonly mint: string
  readonly decimals: number
  readonly requiredBaseUnits: bigint
  readonly burnBaseUnits: bigint
  readonly shares: readonly Share[]
  /** `describeShares` of the shares: two lists are the same when their texts are. */
  readonly sharesText: string
  /** Its canonical text: two prices are the same when their texts are. */
  readonly text: string
  readonly problem: string | undefined
}

/** One account's part of a payment. */
export interface Share {
  readonly account: string
  readonly baseUnits: bigint
}

// Thousands of consecutive payments have one of a few prices, so each price is parsed and checked once.
const cacheMax = 1_000
const cache = new Map<string, AuditedPrice>()
// The last member of a price. Inside a string the quotes would be escaped.
const lastMember = '"tokenPriceAttoUsd":"'

/** Reads a price where the reader stands. */
export function readPrice(reader: BodyReader): AuditedPrice {
  const start = reader.at
  const end = reader.text.indexOf('}', reader.text.indexOf(lastMember, start)) + 1
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
  const mint = ownCopy(reader.plain(',"mint":'))
  const priceMicroUsd = reader.amount(',"priceMicroUsd":', usdDigitsMax)
  const requiredBaseUnits = reader.amount(',"requiredBaseUnits":')
  const shares = readShares(reader, ',"shares":')
  const tokenPriceAttoUsd = reader.amount(',"tokenPriceAttoUsd":', usdDigitsMax)
  reader.literal('}')
  const stated = { endpoint, mint, decimals, requiredBaseUnits, burnBaseUnits, shares }
  const problem = findProblem({ ...stated, priceMicroUsd, tokenPriceAttoUsd })
  const text = ownCopy(reader.text.slice(start, reader.at))
  return { ...stated, sharesText: describeShares(shares), text, problem }
}

const accountForm = /^[a-z][a-z0-9-]{0,31}$/

const listCache = new Map<string, readonly Share[]>()

/** A list of shares, in the order of the split. Lists come again as often as prices. */
export function readShares(reader: BodyReader, before: string): readonly Share[] {
  reader.literal(before)
  const start = reader.at
  const end = reader.text.indexOf(']', start) + 1
  const known = listCache.get(reader.text.slice(start, end))
  if (known !== undefined) {
    reader.jumpTo(end)
    return known
  }
  const shares = parseShares(reader)
  if (listCache.size >= cacheMax) listCache.clear()
  listCache.set(ownCopy(reader.text.slice(start, reader.at)), shares)
  return shares
}

function parseShares(reader: BodyReader): readonly Share[] {
  reader.literal('[')
  return reader.list(() => {
    const account = readAccountName(reader, '{"account":')
    const baseUnits = reader.amount(',"baseUnits":')
    reader.literal('}')
    return { account, baseUnits }
  })
}

/** The name behind `Liabilities:Share:`. */
export function readAccountName(reader: BodyReader, before: string): string {
  const name = reader.plain(before)
  if (!accountForm.test(name)) throw new UnreadableBody(`${name} is not a name of a share's account`)
  return ownCopy(name)
}

const texts = new WeakMap<readonly Share[], string>()

/** Shares of nothing are posted nowhere, and are not part of the text. */
export function describeShares(shares: readonly Share[]): string {
  const known = texts.get(shares)
  if (known !== undefined) return known
  const text = shares
    .filter(({ baseUnits }) => baseUnits !== 0n)
    .map(({ account, baseUnits }) => `${account} ${baseUnits}`)
    .join(', ')
  texts.set(shares, text)
  return text
}

interface StatedPrice extends Omit<AuditedPrice, 'text' | 'sharesText' | 'problem'> {
  readonly priceMicroUsd: bigint
  readonly tokenPriceAttoUsd: bigint
}

const decimalsMax = 18
const baseUnitsMax = 2n ** 64n - 1n

/** The rules of docs/ledger.md that need no split: required = ⌈price / token price⌉, and burn and shares sum to it. */
function findProblem(price: StatedPrice): string | undefined {
  const { decimals, priceMicroUsd, tokenPriceAttoUsd, requiredBaseUnits, burnBaseUnits, shares } = price
  if (decimals < 0 || decimals > decimalsMax) return `${decimals} decimals`
  if (priceMicroUsd === 0n || tokenPriceAttoUsd === 0n) return 'a price of nothing'
  if (requiredBaseUnits > baseUnitsMax) return 'more is required than tokens can exist'
  // Micro dollars have 6 decimals and token prices 18.
  const scaled = priceMicroUsd * 10n ** BigInt(decimals + 12)
  const required = (scaled + tokenPriceAttoUsd - 1n) / tokenPriceAttoUsd
  if (required !== requiredBaseUnits) {
    return `required is ${requiredBaseUnits}, and ⌈price / token price⌉ is ${required}`
  }
  const shared = shares.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  if (burnBaseUnits + shared !== required) {
    return `burn and shares sum to ${burnBaseUnits + shared}, and ${required} is required`
  }
  if (new Set(shares.map(({ account }) => account)).size !== shares.length) return 'an account has two shares'
  return undefined
}

/** A slice keeps the whole body that it was cut from in memory; this copy does not. */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}
