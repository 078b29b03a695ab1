import { encodeBase58 } from '@tollbook/core/base58'
import { type AccountKey, keyAt } from './accountKeys.ts'
import { ByteReader } from './byteReader.ts'
import type { CompiledInstruction } from './chainTransaction.ts'
import { type FieldLayout, type Fields, readFields } from './fieldLayout.ts'

/** One kind of instruction: the names of its accounts in order, and its fields after the discriminator. */
export interface InstructionLayout {
  readonly type: string
  readonly accounts: readonly string[]
  readonly fields?: FieldLayout
  /** The accounts after the named ones: one authority, or a multisig followed by its signing members. */
  readonly authority?: AuthorityNames
}

export interface AuthorityNames {
  readonly single: string
  readonly multisig: string
}

export interface InstructionBytes {
  readonly instruction: CompiledInstruction
  readonly keys: readonly AccountKey[]
  /** Offset of the fields in the instruction's data. */
  readonly offset: number
}

/** The names that `jsonParsed` shows for an instruction. */
export interface InstructionNames {
  readonly [part: string]: string | Fields
  readonly type: string
  readonly info: Fields
}

/** Undefined if the instruction has fewer accounts than the layout. Throws `MalformedBytes` if its data is short. */
export function readInstruction(layout: InstructionLayout, bytes: InstructionBytes): InstructionNames | undefined {
  const { instruction, keys, offset } = bytes
  const addresses = [...instruction.accountIndexes].map((index) => encodeBase58(keyAt(keys, index).address))
  const accountsNeeded = layout.accounts.length + (layout.authority === undefined ? 0 : 1)
  if (addresses.length < accountsNeeded) return undefined
  const fields = readFields(new ByteReader(instruction.data.subarray(offset)), layout.fields ?? [])
  const others = addresses.slice(layout.accounts.length)
  const accountFields = Object.fromEntries(layout.accounts.map((name, index) => [name, addresses[index] ?? '']))
  return {
    type: layout.type,
    info: { ...accountFields, ...fields, ...authorityFields(layout.authority, others) },
  }
}

function authorityFields(names: AuthorityNames | undefined, others: readonly string[]): Fields {
  const [authority, ...signers] = others
  if (names === undefined || authority === undefined) return {}
  return signers.length === 0 ? { [names.single]: authority } : { [names.multisig]: authority, signers }
}
