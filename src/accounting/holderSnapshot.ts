import { z } from 'zod'
import { type Address, readAddress } from '@tollbook/core/address'
import { assert } from '@tollbook/core/assert'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { sha256Hex } from '@tollbook/core/digest'
import { parseJson } from '@tollbook/core/json'
import { compare, type Holder } from './holderShares.ts'

export interface HolderSnapshot {
  readonly network: string
  readonly mint: Address
  readonly tokenProgram: Address
  readonly decimals: number
  readonly slot: number
  /** Sorted by address, ascending. */
  readonly accounts: readonly SnapshotAccount[]
}

/** A token account of the mint. A wallet may have several. */
export interface SnapshotAccount {
  readonly address: Address
  readonly owner: Address
  readonly baseUnits: bigint
  readonly isFrozen: boolean
}

const format = 'tollbook-holders-1'

/** Each snapshot has exactly one text, and therefore one digest. */
export function snapshotText({ accounts, ...head }: HolderSnapshot): string {
  assert(
    accounts.every(({ address }, index) => index === 0 || compare(accounts[index - 1]?.address ?? '', address) < 0),
    'the accounts are in the order of their addresses, each once',
  )
  assert(
    accounts.every(({ baseUnits }) => baseUnits >= 0n),
    'a token account holds no less than nothing',
  )
  const lines = accounts.map(
    ({ address, owner, baseUnits, isFrozen }) => `${address} ${owner} ${baseUnits} ${isFrozen ? 'frozen' : 'open'}\n`,
  )
  return `${canonicalJson({ format, accounts: accounts.length, ...head })}\n${lines.join('')}`
}

/**
 * The digest is of the text exactly as it was read. The plan contains it, so that every holder can check the shares
 * later.
 */
export function snapshotDigest(text: string): string {
  return sha256Hex(text)
}

const headForm = z.object({
  format: z.literal(format),
  accounts: z.int().min(0),
  network: z.string(),
  mint: z.string(),
  tokenProgram: z.string(),
  decimals: z.int().min(0).max(255),
  slot: z.int().min(0),
})
const accountLine = /^(\S{32,44}) (\S{32,44}) (0|[1-9]\d{0,19}) (open|frozen)$/

/** Undefined for a text that is not a snapshot in its canonical form. */
export function readSnapshot(text: string): HolderSnapshot | undefined {
  const [first = '', ...lines] = text.split('\n')
  const head = headForm.safeParse(parseJson(first))
  if (!head.success || lines.pop() !== '') return undefined
  const accounts = lines.flatMap((line) => readAccount(line) ?? [])
  const { format: _format, accounts: count, ...rest } = head.data
  const [mint, tokenProgram] = [readAddress(rest.mint), readAddress(rest.tokenProgram)]
  if (mint === undefined || tokenProgram === undefined || accounts.length !== lines.length) return undefined
  const isOrdered = accounts.every(({ address }, k) => k === 0 || compare(accounts[k - 1]?.address ?? '', address) < 0)
  if (!isOrdered || count !== accounts.length) return undefined
  const snapshot = { ...rest, mint, tokenProgram, accounts }
  return snapshotText(snapshot) === text ? snapshot : undefined
}

function readAccount(line: string): SnapshotAccount | undefined {
  const [, addressText = '', ownerText = '', amount = '', state] = accountLine.exec(line) ?? []
  const [address, owner] = [readAddress(addressText), readAddress(ownerText)]
  if (address === undefined || owner === undefined) return undefined
  return { address, owner, baseUnits: BigInt(amount), isFrozen: state === 'frozen' }
}

/** These rules are part of the plan and of its digest. */
export interface HolderRules {
  readonly excluded: readonly Address[]
  /** In base units. The division ignores the tokens of a wallet with less. */
  readonly minimumBaseUnits: bigint
  /** Bounds the rent that the fee payer pays for new token accounts. */
  readonly openAccountsMax: number
}

/**
 * Returns the wallets that hold the minimum and can be paid. A frozen associated token account cannot be paid, and a
 * wallet without one needs a new account. New accounts go to the largest balances, up to the maximum.
 */
export function holdersOf(
  { accounts }: HolderSnapshot,
  { excluded, minimumBaseUnits, openAccountsMax }: HolderRules,
  tokenAccountOf: (wallet: Address) => Address,
): readonly Holder[] {
  assert(minimumBaseUnits > 0n && openAccountsMax >= 0, 'a holder has a balance, and a count is not negative')
  const skipped = new Set(excluded)
  const balances = new Map<Address, bigint>()
  for (const { owner, baseUnits } of accounts) {
    if (!skipped.has(owner)) balances.set(owner, (balances.get(owner) ?? 0n) + baseUnits)
  }
  const states = new Map(accounts.map(({ address, isFrozen }) => [address, isFrozen]))
  const [present, missing]: [Holder[], Holder[]] = [[], []]
  for (const [wallet, balanceBaseUnits] of balances) {
    if (balanceBaseUnits < minimumBaseUnits) continue
    const isFrozen = states.get(tokenAccountOf(wallet))
    if (isFrozen !== true) (isFrozen === undefined ? missing : present).push({ wallet, balanceBaseUnits })
  }
  const opened = missing.toSorted(
    (one, other) => compare(other.balanceBaseUnits, one.balanceBaseUnits) || compare(one.wallet, other.wallet),
  )
  return [...present, ...opened.slice(0, openAccountsMax)]
}
