import { assert } from '@tollbook/core/assert'
import type { Instruction } from './instruction.ts'

/** Accounts of a message in the order of its header: signers first, and writable accounts first in each half. */
export interface AccountTable {
  readonly addresses: readonly string[]
  readonly requiredSignatures: number
  readonly readonlySigned: number
  readonly readonlyUnsigned: number
  indexOf(address: string): number
}

interface Use {
  signs: boolean
  writable: boolean
}

/** The order within each group is the order of first mention, as in @solana/web3.js, so both build the same bytes. */
export function tabulateAccounts(feePayer: string, instructions: readonly Instruction[]): AccountTable {
  const uses = new Map<string, Use>([[feePayer, { signs: true, writable: true }]])
  for (const { program, accounts } of instructions)
    for (const account of [{ address: program, signs: false, writable: false }, ...accounts]) addUse(uses, account)
  const select = (signs: boolean, writable: boolean) =>
    [...uses].filter(([, use]) => use.signs === signs && use.writable === writable).map(([address]) => address)
  const [writableSigned, readonlySigned] = [select(true, true), select(true, false)]
  const [writableUnsigned, readonlyUnsigned] = [select(false, true), select(false, false)]
  const addresses = [...writableSigned, ...readonlySigned, ...writableUnsigned, ...readonlyUnsigned]
  assert(addresses[0] === feePayer, 'the fee payer is the first account')
  return {
    addresses,
    requiredSignatures: writableSigned.length + readonlySigned.length,
    readonlySigned: readonlySigned.length,
    readonlyUnsigned: readonlyUnsigned.length,
    indexOf: (address) => addresses.indexOf(address),
  }
}

function addUse(uses: Map<string, Use>, { address, signs, writable }: Use & { readonly address: string }): void {
  const use = uses.get(address)
  if (use === undefined) uses.set(address, { signs, writable })
  else Object.assign(use, { signs: use.signs || signs, writable: use.writable || writable })
}
