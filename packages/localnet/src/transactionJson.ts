import { assertNever } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import type { AccountKey, ResolvedTransaction } from './accountKeys.ts'
import type { AddressTableLookup, CompiledInstruction } from './chainTransaction.ts'
import { parsedInstructionJson } from './parsedInstruction.ts'

export const transactionEncodings = ['json', 'jsonParsed', 'base58', 'base64'] as const
export type TransactionEncoding = (typeof transactionEncodings)[number]

/** Instructions of a transaction itself are at height 1; what they call is at 2 and more. */
const topLevel = 1

/**
 * A transaction in the words of a node. `json` shows what was signed, index by index; `jsonParsed` replaces the indexes
 * by addresses and, where the program is known, the bytes by named fields.
 */
export function transactionJson(transaction: ResolvedTransaction, encoding: TransactionEncoding): Json {
  switch (encoding) {
    case 'base58':
      return [encodeBase58(transaction.wire), encoding]
    case 'base64':
      return [Buffer.from(transaction.wire).toString('base64'), encoding]
    case 'json':
      return { signatures: transaction.signatures.map(encodeBase58), message: messageJson(transaction) }
    case 'jsonParsed':
      return { signatures: transaction.signatures.map(encodeBase58), message: parsedMessageJson(transaction) }
    default:
      return assertNever(encoding)
  }
}

/** The short form of `transactionDetails: "accounts"` in blocks, also the list of keys in `jsonParsed`. */
export function accountKeysJson(keys: readonly AccountKey[]): Json[] {
  return keys.map(({ address, signer, writable, source }) => ({
    pubkey: encodeBase58(address),
    signer,
    writable,
    source,
  }))
}

/** Data is base58 here, whatever else is asked for. */
export function instructionJson(instruction: CompiledInstruction, stackHeight: number): Json {
  return {
    programIdIndex: instruction.programIndex,
    accounts: [...instruction.accountIndexes],
    data: encodeBase58(instruction.data),
    stackHeight,
  }
}

function messageJson({ message }: ResolvedTransaction): Json {
  return {
    header: {
      numRequiredSignatures: message.header.requiredSignatures,
      numReadonlySignedAccounts: message.header.readonlySigned,
      numReadonlyUnsignedAccounts: message.header.readonlyUnsigned,
    },
    accountKeys: message.staticKeys.map(encodeBase58),
    recentBlockhash: encodeBase58(message.recentBlockhash),
    instructions: message.instructions.map((each) => instructionJson(each, topLevel)),
    ...lookupsJson(message),
  }
}

/** Has no header: each account says itself whether it signs and may be written. */
function parsedMessageJson({ message, keys }: ResolvedTransaction): Json {
  return {
    accountKeys: accountKeysJson(keys),
    recentBlockhash: encodeBase58(message.recentBlockhash),
    instructions: message.instructions.map((instruction) =>
      parsedInstructionJson({ instruction, keys, stackHeight: topLevel }),
    ),
    ...lookupsJson(message),
  }
}

/** Left out of legacy messages altogether; clients tell the two apart by it. */
function lookupsJson(message: ResolvedTransaction['message']): { readonly addressTableLookups?: Json } {
  return message.version === 'legacy' ? {} : { addressTableLookups: message.lookups.map(lookupJson) }
}

function lookupJson(lookup: AddressTableLookup): Json {
  return {
    accountKey: encodeBase58(lookup.table),
    writableIndexes: [...lookup.writableIndexes],
    readonlyIndexes: [...lookup.readonlyIndexes],
  }
}
