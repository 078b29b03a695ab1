import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import { type ByteReader, MalformedBytes } from './byteReader.ts'
import { tokenAmountJson } from './tokenAmount.ts'

/*
 * `jsonParsed` translates packed bytes into named JSON fields, for dozens of formats. The layouts are therefore data
 * (name, kind, in order), and only this code reads them.
 */

export type FieldKind =
  | 'u8'
  | 'u16'
  | 'u64'
  | 'address'
  /** An address. Zeros mean no authority and become null. */
  | 'addressOrNull'
  /** A flag byte, then an address if the flag is set. The field is omitted without an address. */
  | 'optionalAddress'
  /** A flag byte, then an address if the flag is set. The field is null without an address. */
  | 'optionalAddressOrNull'
  /** An exact amount as a string. */
  | 'amount'
  /** An amount followed by its decimals. */
  | 'tokenAmount'
  | 'text'
  | 'authorityType'

export type FieldLayout = readonly (readonly [name: string, kind: FieldKind])[]

export type Fields = Record<string, Json>

/** Throws `MalformedBytes` if the bytes end too early. */
export function readFields(reader: ByteReader, layout: FieldLayout): Fields {
  const fields: Fields = {}
  for (const [name, kind] of layout) {
    const value = readers[kind](reader)
    if (value !== undefined) fields[name] = value
  }
  return fields
}

const readers: Readonly<Record<FieldKind, (reader: ByteReader) => Json | undefined>> = {
  u8: (reader) => reader.u8(),
  u16: (reader) => reader.u16(),
  u64: (reader) => Number(reader.u64()),
  address: (reader) => encodeBase58(reader.take(32)),
  addressOrNull: (reader) => addressOrNull(reader.take(32)),
  optionalAddress: (reader) => (reader.u8() === 1 ? encodeBase58(reader.take(32)) : undefined),
  optionalAddressOrNull: (reader) => (reader.u8() === 1 ? encodeBase58(reader.take(32)) : null),
  amount: (reader) => reader.u64().toString(),
  tokenAmount: (reader) => {
    const baseUnits = reader.u64()
    return tokenAmountJson(baseUnits, reader.u8())
  },
  text: (reader) => reader.text(),
  authorityType: (reader) => nameAt(authorityTypes, reader.u8()),
}

function addressOrNull(bytes: Uint8Array): string | null {
  return bytes.every((byte) => byte === 0) ? null : encodeBase58(bytes)
}

function nameAt(names: readonly string[], index: number): string {
  const name = names[index]
  if (name === undefined) throw new MalformedBytes(`${index} has no name`)
  return name
}

const authorityTypes = [
  'mintTokens',
  'freezeAccount',
  'accountOwner',
  'closeAccount',
  'transferFeeConfig',
  'withheldWithdraw',
  'closeMint',
  'interestRate',
  'permanentDelegate',
  'confidentialTransferMint',
  'transferHookProgramId',
  'confidentialTransferFeeConfig',
  'metadataPointer',
  'groupPointer',
  'groupMemberPointer',
  'scaledUiAmount',
  'pause',
  'permissionedBurn',
]
