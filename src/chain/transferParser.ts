import { decodeBase58Data } from '../primitives/base58.ts'
import { Fault } from '../primitives/fault.ts'
import { type Address, readAddress } from '../payment/address.ts'
import { memoPrograms, tokenPrograms } from '../payment/programs.ts'
import type { TokenBalance, TokenMovement } from '../payment/transactionRecord.ts'
import { readTokenInstruction, type TokenEffect } from './tokenInstruction.ts'
import type { InstructionJson, TokenBalanceJson } from './transactionJson.ts'

/** What happened, or would happen, in one transaction, before its meaning is known. */
export interface RawEffects {
  /** Static keys, then loaded writable ones, then loaded read-only ones: the order in which indexes count. */
  readonly accountKeys: readonly string[]
  readonly instructions: readonly InstructionJson[]
  readonly innerInstructions: readonly { readonly instructions: readonly InstructionJson[] }[]
  readonly preTokenBalances: readonly TokenBalanceJson[] | undefined
  readonly postTokenBalances: readonly TokenBalanceJson[] | undefined
}

export interface ParsedEffects {
  readonly movements: readonly TokenMovement[]
  readonly balances: readonly TokenBalance[] | undefined
  readonly memos: readonly string[]
}

/**
 * Pure. Reads instructions at top level and inside others alike, and nothing of the logs: the newer token program does
 * not even write "Instruction: Transfer" there.
 */
export function parseEffects(raw: RawEffects): ParsedEffects {
  const keys = raw.accountKeys.map(addressOf)
  const all = [...raw.instructions, ...raw.innerInstructions.flatMap(({ instructions }) => instructions)]
  const calls = all.map((instruction) => ({ program: keyAt(keys, instruction.programIdIndex), instruction }))
  const memos = calls
    .filter(({ program }) => memoPrograms.has(program))
    .map(({ instruction }) => Buffer.from(dataOf(instruction)).toString('utf8'))
  const effects = calls
    .filter(({ program }) => tokenPrograms.has(program))
    .flatMap(({ program, instruction }) => {
      const accounts = instruction.accounts.map((at) => keyAt(keys, at))
      return readTokenInstruction(accounts, dataOf(instruction)).map((effect) => ({ program, effect }))
    })
  const balances = balancesOf(
    raw,
    keys,
    effects.map(({ effect }) => effect),
  )
  const mints = mintsOf(
    balances,
    effects.map(({ effect }) => effect),
  )
  return {
    memos,
    movements: effects.flatMap(({ program, effect }) => movementOf(program, effect, mints)),
    balances: raw.preTokenBalances === undefined ? undefined : balances,
  }
}

function addressOf(text: string): Address {
  const address = readAddress(text)
  if (address === undefined) throw new Fault('the node named an account that is no address', { retryable: true })
  return address
}

function keyAt(keys: readonly Address[], index: number): Address {
  const key = keys[index]
  if (key === undefined) throw new Fault('the node left out an account of the transaction', { retryable: true })
  return key
}

function dataOf(instruction: InstructionJson): Uint8Array {
  const data = decodeBase58Data(instruction.data)
  if (data === undefined) throw new Fault('the node gave instruction data that is no base58', { retryable: true })
  return data
}

function balancesOf(
  raw: RawEffects,
  keys: readonly Address[],
  effects: readonly TokenEffect[],
): readonly TokenBalance[] {
  const byAccount = new Map<Address, { mint: Address; owners: Set<Address>; before: bigint; after: bigint }>()
  const seen = (tokenAccount: Address, mint: Address) => {
    const known = byAccount.get(tokenAccount) ?? { mint, owners: new Set<Address>(), before: 0n, after: 0n }
    byAccount.set(tokenAccount, known)
    return known
  }
  for (const balance of raw.preTokenBalances ?? []) {
    const known = seen(keyAt(keys, balance.accountIndex), addressOf(balance.mint))
    known.owners.add(addressOf(balance.owner))
    known.before = BigInt(balance.uiTokenAmount.amount)
  }
  for (const balance of raw.postTokenBalances ?? []) {
    const known = seen(keyAt(keys, balance.accountIndex), addressOf(balance.mint))
    known.owners.add(addressOf(balance.owner))
    known.after = BigInt(balance.uiTokenAmount.amount)
  }
  for (const effect of effects) {
    if (effect.kind === 'open') seen(effect.tokenAccount, effect.mint).owners.add(effect.owner)
  }
  return [...byAccount].map(([tokenAccount, { mint, owners, before, after }]) => {
    return { tokenAccount, mint, ownersSeen: [...owners], beforeBaseUnits: before, afterBaseUnits: after }
  })
}

function mintsOf(balances: readonly TokenBalance[], effects: readonly TokenEffect[]): ReadonlyMap<Address, Address> {
  const mints = new Map(balances.map(({ tokenAccount, mint }) => [tokenAccount, mint]))
  for (const effect of effects) {
    if (effect.kind !== 'open' && effect.mint !== undefined && effect.source !== undefined)
      mints.set(effect.source, effect.mint)
  }
  return mints
}

/** A movement whose mint nothing shows moved between accounts that did not outlive the transaction; it cannot be ours. */
function movementOf(
  tokenProgram: Address,
  effect: TokenEffect,
  mints: ReadonlyMap<Address, Address>,
): readonly TokenMovement[] {
  if (effect.kind === 'open') return []
  const { kind, source, destination, authority, amountBaseUnits } = effect
  const mint = effect.mint ?? mints.get(source ?? authority) ?? mints.get(destination ?? authority)
  if (mint === undefined) return []
  const base = { tokenProgram, mint, authority, amountBaseUnits }
  if (kind === 'mintTo') return destination === undefined ? [] : [{ ...base, kind, destination }]
  if (source === undefined) return []
  if (kind === 'burn') return [{ ...base, kind, source }]
  return destination === undefined ? [] : [{ ...base, kind, source, destination }]
}
