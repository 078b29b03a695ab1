import { createHash } from 'node:crypto'
import { divideRoundingDown } from './rounding.ts'
import { associatedTokenAccount, isAddress } from './tokenAccountAddress.ts'

/* Derives the lines of a payout plan from the snapshot of holders that the plan names (docs/payouts.md). */

/** A snapshot of the holders of a mint. The file has one line of JSON, then one line for each token account. */
export interface HolderSnapshot {
  readonly sha256: string
  readonly mint: string
  readonly tokenProgram: string
  readonly slot: number
  readonly accounts: readonly SnapshotAccount[]
}

interface SnapshotAccount {
  readonly address: string
  readonly owner: string
  readonly baseUnits: bigint
  readonly isFrozen: boolean
}

const headForm =
  /^\{"accounts":(\d{1,9}),"decimals":\d{1,3},"format":"tollbook-holders-1","mint":"(\w{32,44})","network":"[^"\\]*","slot":(\d{1,15}),"tokenProgram":"(\w{32,44})"\}$/
const accountForm = /^(\w{32,44}) (\w{32,44}) (0|[1-9]\d{0,19}) (open|frozen)$/

/** Parses a snapshot file. Undefined if the text is not a snapshot. */
export function readHolderSnapshot(text: string): HolderSnapshot | undefined {
  const [head = '', ...lines] = text.split('\n')
  const [, count, mint = '', slot, tokenProgram = ''] = headForm.exec(head) ?? []
  if (lines.pop() !== '' || Number(count) !== lines.length || ![mint, tokenProgram].every(isAddress)) return undefined
  const accounts: SnapshotAccount[] = []
  for (const line of lines) {
    const [, address = '', owner = '', amount = '', state] = accountForm.exec(line) ?? []
    const before = accounts.at(-1)?.address ?? ''
    // Addresses must ascend, so that no account counts twice.
    if (!isAddress(address) || !isAddress(owner) || address <= before) return undefined
    accounts.push({ address, owner, baseUnits: BigInt(amount), isFrozen: state === 'frozen' })
  }
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { sha256, mint, tokenProgram, slot: Number(slot), accounts }
}

export interface DerivedLine {
  readonly wallet: string
  readonly baseUnits: bigint
}

export interface HolderTerms {
  readonly amountBaseUnits: bigint
  readonly excluded: readonly string[]
  readonly minimumBaseUnits: bigint
  readonly openAccountsMax: number
}

// Lines in one part, because a transaction of 1,232 bytes has space for eight transfers.
const linesInPart = 8

/** Derives the lines of the plan, grouped into parts in the order of payment. A part is one transaction. */
export function derivePlan(terms: HolderTerms, snapshot: HolderSnapshot): readonly (readonly DerivedLine[])[] {
  const lines = divide(terms.amountBaseUnits, payableBalances(terms, snapshot))
  const parts: (readonly DerivedLine[])[] = []
  for (let from = 0; from < lines.length; from += linesInPart) parts.push(lines.slice(from, from + linesInPart))
  return parts
}

function payableBalances(terms: HolderTerms, { accounts, mint, tokenProgram }: HolderSnapshot) {
  const balances = new Map<string, bigint>()
  const frozen = new Map<string, boolean>()
  for (const { address, owner, baseUnits, isFrozen } of accounts) {
    balances.set(owner, (balances.get(owner) ?? 0n) + baseUnits)
    frozen.set(address, isFrozen)
  }
  for (const wallet of terms.excluded) balances.delete(wallet)
  const paid = new Map<string, bigint>()
  const without: [string, bigint][] = []
  for (const [wallet, balanceBaseUnits] of balances) {
    if (balanceBaseUnits < terms.minimumBaseUnits) continue
    const isFrozen = frozen.get(associatedTokenAccount({ wallet, tokenProgram, mint }))
    if (isFrozen === undefined) without.push([wallet, balanceBaseUnits])
    else if (!isFrozen) paid.set(wallet, balanceBaseUnits)
  }
  // Wallets without a token account: sort by balance, largest first, then by address. The plan opens accounts only for
  // the first `openAccountsMax`.
  without.sort(largestFirst)
  for (const [wallet, balanceBaseUnits] of without.slice(0, terms.openAccountsMax)) paid.set(wallet, balanceBaseUnits)
  return paid
}

function largestFirst([one, amount]: readonly [string, bigint], [other, against]: readonly [string, bigint]): number {
  return amount === against ? (one < other ? -1 : 1) : amount > against ? -1 : 1
}

/**
 * Divides the amount in proportion to the balances and rounds down. The wallets with the largest fractions each receive
 * one of the remaining base units. Returns the wallets in sorted order.
 */
function divide(amountBaseUnits: bigint, balances: ReadonlyMap<string, bigint>): readonly DerivedLine[] {
  let totalBaseUnits = 0n
  for (const balanceBaseUnits of balances.values()) totalBaseUnits += balanceBaseUnits
  if (totalBaseUnits === 0n) return []
  const quotients = new Map<string, bigint>()
  const fractions: [string, bigint][] = []
  let leftBaseUnits = amountBaseUnits
  for (const [wallet, balanceBaseUnits] of balances) {
    const quotientBaseUnits = divideRoundingDown(amountBaseUnits * balanceBaseUnits, totalBaseUnits)
    quotients.set(wallet, quotientBaseUnits)
    fractions.push([wallet, amountBaseUnits * balanceBaseUnits - quotientBaseUnits * totalBaseUnits])
    leftBaseUnits -= quotientBaseUnits
  }
  fractions.sort(largestFirst)
  for (const [wallet] of fractions.slice(0, Number(leftBaseUnits)))
    quotients.set(wallet, (quotients.get(wallet) ?? 0n) + 1n)
  const lines = [...quotients].map(([wallet, baseUnits]) => ({ wallet, baseUnits }))
  return lines.filter(({ baseUnits }) => baseUnits > 0n).toSorted((one, other) => (one.wallet < other.wallet ? -1 : 1))
}
