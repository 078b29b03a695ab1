import { Fault } from '@tollbook/core/fault'
import { type Address, readAddress } from '@tollbook/core/address'
import { memoPrograms, tokenPrograms } from '@tollbook/core/programs'
import type { TokenBalance, TokenMovement } from '../payment/transactionRecord.ts'
import { decodeInstructionData } from './instructionData.ts'
import { readTokenInstruction, type TokenEffect } from './tokenInstruction.ts'
import type { InstructionJson, TokenBalanceJson } from './transactionJson.ts'

export interface Call {
  readonly program: Address
  readonly effects: readonly TokenEffect[]
  readonly memo: string | undefined
}

export interface RawEffects {
  /** Account keys in the order of the indexes: static keys, then loaded writable keys, then loaded read-only keys. */
  readonly accountKeys: readonly string[]
  /** Instructions at top level, and instructions that programs called. */
  readonly calls: readonly Call[]
  readonly preTokenBalances: readonly TokenBalanceJson[] | undefined
  readonly postTokenBalances: readonly TokenBalanceJson[] | undefined
}

export interface ParsedEffects {
  readonly movements: readonly TokenMovement[]
  readonly balances: readonly TokenBalance[] | undefined
  readonly memos: readonly string[]
}

/**
 * Reads the effects of a transaction, but never from its logs, because the newer token program does not even log
 * "Instruction: Transfer".
 */
export function parseEffects(raw: RawEffects): ParsedEffects {
  const effects = raw.calls.flatMap((call) => call.effects.map((effect) => ({ program: call.program, effect })))
  const bare = effects.map(({ effect }) => effect)
  const balances = balancesOf(raw, raw.accountKeys.map(addressOf), bare)
  const mints = mintsOf(balances, bare)
  const reported = raw.preTokenBalances !== undefined && raw.postTokenBalances !== undefined
  return {
    memos: raw.calls.flatMap(({ memo }) => memo ?? []),
    movements: effects.flatMap(({ program, effect }) => movementOf(program, effect, mints)),
    balances: reported ? balances : undefined,
  }
}

export function callsOf(accountKeys: readonly string[], instructions: readonly InstructionJson[]): readonly Call[] {
  const keys = accountKeys.map(addressOf)
  return instructions.map(({ programIdIndex, accounts, data }) => {
    const accountAddresses = accounts.map((index) => keyAt(keys, index))
    return readCall(keyAt(keys, programIdIndex), accountAddresses, data)
  })
}

// Maximum length of a memo that is decoded. A quote's memo has 52 bytes, at most 72 characters of base58. A program may
// call another 63 times with 10 KiB of memo, and decoding all of these would block the event loop for 100 ms or more.
const memoCharactersMax = 1_700

/** Only the token and memo programs have effects that count. */
export function readCall(program: Address, accounts: readonly Address[], data: string): Call {
  if (memoPrograms.has(program)) {
    const memo = data.length > memoCharactersMax ? undefined : Buffer.from(decodeInstructionData(data)).toString('utf8')
    return { program, effects: [], memo }
  }
  const effects = tokenPrograms.has(program) ? readTokenInstruction(accounts, decodeInstructionData(data)) : []
  return { program, effects, memo: undefined }
}

/** Throws a retryable fault, because another node may answer correctly. */
export function addressOf(text: string): Address {
  const address = readAddress(text)
  if (address === undefined) throw new Fault('the node named an account that is not an address', { retryable: true })
  return address
}

function keyAt(keys: readonly Address[], index: number): Address {
  const key = keys[index]
  if (key === undefined) throw new Fault('the node left out an account of the transaction', { retryable: true })
  return key
}

function balancesOf(
  raw: RawEffects,
  keys: readonly Address[],
  effects: readonly TokenEffect[],
): readonly TokenBalance[] {
  const opened = (mint: Address) => ({ mint, owners: new Set<Address>(), beforeBaseUnits: 0n, afterBaseUnits: 0n })
  const byAccount = new Map<Address, ReturnType<typeof opened>>()
  const seen = (tokenAccount: Address, mint: Address) => {
    const known = byAccount.get(tokenAccount) ?? opened(mint)
    byAccount.set(tokenAccount, known)
    return known
  }
  const seenWithOwner = ({ accountIndex, mint, owner }: TokenBalanceJson) => {
    const known = seen(keyAt(keys, accountIndex), addressOf(mint))
    known.owners.add(addressOf(owner))
    return known
  }
  for (const balance of raw.preTokenBalances ?? [])
    seenWithOwner(balance).beforeBaseUnits = BigInt(balance.uiTokenAmount.amount)
  for (const balance of raw.postTokenBalances ?? [])
    seenWithOwner(balance).afterBaseUnits = BigInt(balance.uiTokenAmount.amount)
  for (const effect of effects) {
    if (effect.kind === 'open') seen(effect.tokenAccount, effect.mint).owners.add(effect.owner)
  }
  return [...byAccount].map(([tokenAccount, { owners, ...known }]) => {
    return { tokenAccount, ...known, ownersSeen: [...owners] }
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

/**
 * Empty for the opening of an account, and if the mint is unknown. In that case the transaction also closed both
 * accounts, so neither belongs to this service.
 */
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
