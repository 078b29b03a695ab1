import { assert } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { concatBytes } from '@tollbook/core/bytes'
import { verifyEd25519 } from '@tollbook/core/ed25519'
import { Fault } from '@tollbook/core/fault'
import { type Signature, signatureOfBytes } from '@tollbook/core/signature'
import type { AccountUse, Instruction } from './instructions.ts'
import { keyBytes } from './programAddress.ts'
import type { Keypair } from './keypair.ts'

/*
 * Version 0 transactions without lookup tables: https://solana.com/docs/core/transactions. Implemented here, because
 * libraries for them are too large for this package (docs/decisions/0034).
 */

export interface TransactionContent {
  /** The account that pays the network fee is the first signer. */
  readonly feePayer: string
  readonly blockhash: string
  readonly instructions: readonly Instruction[]
}

export function buildTransaction({ feePayer, blockhash, instructions }: TransactionContent): Uint8Array {
  const { addresses, requiredSignatures, ...table } = tabulateAccounts(feePayer, instructions)
  const { readonlySigned, readonlyUnsigned, indexOf } = table
  const transaction = concatBytes([
    compactU16(requiredSignatures),
    new Uint8Array(requiredSignatures * signatureBytes),
    Uint8Array.of(version0, requiredSignatures, readonlySigned, readonlyUnsigned),
    compactU16(addresses.length),
    ...addresses.map((address) => keyBytes(address)),
    keyBytes(blockhash),
    compactU16(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      Uint8Array.of(indexOf(program)),
      compactU16(accounts.length),
      Uint8Array.from(accounts, ({ address }) => indexOf(address)),
      compactU16(data.length),
      data,
    ]),
    noLookupTables,
  ])
  if (transaction.length > transactionBytesMax)
    throw new Fault(`a transaction has at most ${transactionBytesMax} bytes (got ${transaction.length})`, {
      retryable: false,
    })
  return transaction
}

const version0 = 0x80
const noLookupTables = Uint8Array.of(0)
const signatureBytes = 64
const publicKeyBytes = 32
const headerBytes = 3
// Size of one network packet: 1,280 bytes without the headers of IPv6 and of fragmentation.
const transactionBytesMax = 1_232

/**
 * The message header requires this order: signers first, and writable accounts first in each half. Within a group,
 * accounts are in order of first use, as in @solana/web3.js, so both build the same bytes.
 */
function tabulateAccounts(feePayer: string, instructions: readonly Instruction[]) {
  const uses = new Map<string, AccountUse>([[feePayer, { address: feePayer, signs: true, writable: true }]])
  for (const { program, accounts } of instructions)
    for (const { address, signs, writable } of [{ address: program, signs: false, writable: false }, ...accounts]) {
      const use = uses.get(address)
      uses.set(address, { address, signs: signs || use?.signs === true, writable: writable || use?.writable === true })
    }
  const select = (signs: boolean, writable: boolean) =>
    [...uses.values()].filter((use) => use.signs === signs && use.writable === writable).map(({ address }) => address)
  const [writableSigned, readonlySigned] = [select(true, true), select(true, false)]
  const [writableUnsigned, readonlyUnsigned] = [select(false, true), select(false, false)]
  const addresses = [...writableSigned, ...readonlySigned, ...writableUnsigned, ...readonlyUnsigned]
  assert(addresses[0] === feePayer, 'the fee payer is the first account')
  return {
    addresses,
    requiredSignatures: writableSigned.length + readonlySigned.length,
    readonlySigned: readonlySigned.length,
    readonlyUnsigned: readonlyUnsigned.length,
    indexOf: (address: string) => addresses.indexOf(address),
  }
}

/** Encodes a length as Solana does: seven bits per byte, low bits first. */
function compactU16(length: number): Uint8Array {
  assert(length >= 0 && length <= 0xffff, 'a length fits into 16 bits')
  const bytes = []
  let rest = length
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Uint8Array.from([...bytes, rest])
}

/** Returns a signed copy. Throws a `Fault` if the transaction does not need the signature of a keypair. */
export function signTransaction(transaction: Uint8Array, keypairs: readonly Keypair[]): Uint8Array {
  const { message, signers } = readTransaction(transaction)
  const signed = transaction.slice()
  for (const { address, sign } of keypairs) {
    const slot = signers.indexOf(address)
    if (slot === -1) throw new Fault(`the transaction needs no signature of ${address}`, { retryable: false })
    signed.set(sign(message), 1 + slot * signatureBytes)
  }
  return signed
}

/** Returns the fee payer's signature, which identifies the transaction. Undefined if it is missing or wrong. */
export function feePayerSignature(transaction: Uint8Array, feePayer: string): Signature | undefined {
  const { signers } = readTransaction(transaction)
  return signers[0] === feePayer ? signatureOf(transaction, feePayer) : undefined
}

/** Undefined if the signature is missing or wrong. */
export function signatureOf(transaction: Uint8Array, address: string): Signature | undefined {
  const { message, signers, signatures } = readTransaction(transaction)
  const signature = signatures[signers.indexOf(address)]
  const publicKey = keyBytes(address)
  return signature !== undefined && verifyEd25519({ publicKey, message, signature })
    ? signatureOfBytes(signature)
    : undefined
}

interface ReadTransaction {
  readonly signatures: readonly Uint8Array[]
  readonly message: Uint8Array
  readonly signers: readonly string[]
}

/** Reads each length as one byte, because a packet has space for fewer than 128 signatures or keys. */
function readTransaction(transaction: Uint8Array): ReadTransaction {
  const [signatureCount = 0] = transaction
  const message = transaction.subarray(1 + signatureCount * signatureBytes)
  const versionBytes = ((message[0] ?? 0) & version0) === version0 ? 1 : 0
  const keysStart = versionBytes + headerBytes + 1
  if (signatureCount === 0 || message.length < keysStart + signatureCount * publicKeyBytes)
    throw new Fault('the bytes are not a transaction', { retryable: false })
  const piecesOf = (bytes: Uint8Array, start: number, length: number) =>
    Array.from({ length: signatureCount }, (_, at) => bytes.subarray(start + at * length, start + (at + 1) * length))
  return {
    signatures: piecesOf(transaction, 1, signatureBytes),
    message,
    signers: piecesOf(message, keysStart, publicKeyBytes).map(encodeBase58),
  }
}
