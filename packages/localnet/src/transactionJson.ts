import { assertNever } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import type { AccountKey, ResolvedTransaction } from './accountKeys.ts'
import type { AddressTableLookup, CompiledInstruction } from './chainTransaction.ts'
import { parsedInstructionJson } from './parsedInstruction.ts'

export const transactionEncodings = ['json', 'jsonParsed', 'base58', 'base64'] as const
export type TransactionEncoding = (typeof transactionEncodings)[number]

/** Stack height of top-level instructions. Instructions that they call have at least 2. */
const topLevel = 1

/**
 * `json` shows the signed message with its indexes. `jsonParsed` shows addresses instead of indexes, and for supported
 * programs fields with names instead of bytes.
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

export function accountKeysJson(keys: readonly AccountKey[]): Json[] {
  return keys.map(({ address, signer, writable, source }) => ({
    pubkey: encodeBase58(address),
    signer,
    writable,
    source,
  }))
}

/** The data is always base58, whatever encoding the client requested. */
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

/** `jsonParsed` has no header, because each account states whether it signs and is writable. */
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

/** Clients recognize a legacy message by the absence of this member. */
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
