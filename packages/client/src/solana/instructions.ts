import { assert } from '@tollbook/core/assert'
import { utf8Bytes } from '@tollbook/core/bytes'
import { associatedTokenProgram, computeBudgetProgram, memoProgram, systemProgram } from '@tollbook/core/programs'
import type { TokenAccountOwner } from './programAddress.ts'

export interface Instruction {
  readonly program: string
  readonly accounts: readonly AccountUse[]
  readonly data: Uint8Array
}

export interface AccountUse {
  readonly address: string
  readonly signs: boolean
  readonly writable: boolean
}

export interface Token {
  readonly mint: string
  readonly tokenProgram: string
  readonly decimals: number
}

export interface TokenAmount {
  readonly account: string
  readonly authority: string
  readonly baseUnits: bigint
}

/** Without signer accounts, the memo program checks only that the text is UTF-8. */
export function memoInstruction(memo: string): Instruction {
  return { program: memoProgram, accounts: [], data: utf8Bytes(memo) }
}

/** Creates instruction 15 of both token programs. It fails on chain if the decimals are not those of the mint. */
export function burnChecked({ mint, tokenProgram, decimals }: Token, amount: TokenAmount): Instruction {
  const accounts = [changed(amount.account), changed(mint), signing(amount.authority)]
  return { program: tokenProgram, accounts, data: checkedAmount(15, amount.baseUnits, decimals) }
}

/** Creates instruction 12 of both token programs. It fails on chain if the decimals are not those of the mint. */
export function transferChecked(token: Token, amount: TokenAmount, destination: string): Instruction {
  const accounts = [changed(amount.account), used(token.mint), changed(destination), signing(amount.authority)]
  return { program: token.tokenProgram, accounts, data: checkedAmount(12, amount.baseUnits, token.decimals) }
}

/** Creates an instruction that opens the token account, or changes nothing if the account exists. `payer` pays the rent. */
export function createTokenAccount(payer: string, account: string, owner: TokenAccountOwner): Instruction {
  const { wallet, mint, tokenProgram } = owner
  const paying = { address: payer, signs: true, writable: true }
  const accounts = [paying, changed(account), used(wallet), used(mint), used(systemProgram), used(tokenProgram)]
  return { program: associatedTokenProgram, accounts, data: Uint8Array.of(createIdempotent) }
}

const createIdempotent = 1

function changed(address: string): AccountUse {
  return { address, signs: false, writable: true }
}

function used(address: string): AccountUse {
  return { address, signs: false, writable: false }
}

function signing(address: string): AccountUse {
  return { address, signs: true, writable: false }
}

/** Writes the data of both token programs: the instruction number, the amount as a little-endian u64, the decimals. */
function checkedAmount(instruction: number, baseUnits: bigint, decimals: number): Uint8Array {
  assert(baseUnits >= 0n && baseUnits < 2n ** 64n, 'an amount fits into 64 bits')
  const data = new Uint8Array(10)
  data[0] = instruction
  new DataView(data.buffer).setBigUint64(1, baseUnits, true)
  data[9] = decimals
  return data
}

/** Limits the compute units. The default of 200,000 units per instruction would raise the priority fee. */
export function setComputeUnitLimit(units: number): Instruction {
  const data = new Uint8Array(5)
  data[0] = 2
  new DataView(data.buffer).setUint32(1, units, true)
  return { program: computeBudgetProgram, accounts: [], data }
}

export function setComputeUnitPrice(microLamports: bigint): Instruction {
  const data = new Uint8Array(9)
  data[0] = 3
  new DataView(data.buffer).setBigUint64(1, microLamports, true)
  return { program: computeBudgetProgram, accounts: [], data }
}
