import { LRUCache } from 'lru-cache'
import { Message, MessageV0, PublicKey, SystemProgram, VersionedTransaction } from '@solana/web3.js'
import { decodeBase58 } from '@tollbook/core/base58'
import { sha256Hex } from '@tollbook/core/digest'
import { type SignedMessage, verifyEd25519 } from '@tollbook/core/ed25519'
import { type Address, readAddress } from '@tollbook/core/address'
import type { SignedTransaction } from '../payment/proof.ts'
import { type Refusal, refuseProof } from '@tollbook/core/refusal'
import { signatureOfBytes } from '@tollbook/core/signature'
import { decodeInstructionData } from './instructionData.ts'
import type { TransactionJson } from './transactionJson.ts'

// Maximum size of a transaction: IPv6's minimum packet of 1,280 bytes less headers.
const transactionBytesMax = 1_232

/** Verifies every signature, and makes no request. */
export function readTransaction(bytes: Uint8Array): SignedTransaction | Refusal {
  const transaction = decodeTransaction(bytes)
  if (transaction === undefined) return refuseProof('malformed_proof')
  const signature = signatureOfBytes(transaction.signatures[0] ?? new Uint8Array())
  const accounts = accountsOf(transaction)
  const signers = signersOf(transaction, accounts)
  if (signature === undefined || signers === undefined || !signaturesHold(transaction))
    return refuseProof('signature_invalid')
  return {
    signature,
    bytes,
    signers,
    accounts: transaction.message.addressTableLookups.length === 0 ? accounts : undefined,
    blockhash: transaction.message.recentBlockhash,
    usesDurableNonce: usesDurableNonce(transaction),
  }
}

/**
 * Decodes a transaction. Undefined for bytes that are too long or not a transaction. Also undefined for bytes that
 * differ from their re-encoding, because they would be a second encoding of the same payment.
 */
export function decodeTransaction(bytes: Uint8Array): VersionedTransaction | undefined {
  if (bytes.length > transactionBytesMax) return undefined
  try {
    const transaction = VersionedTransaction.deserialize(bytes)
    return Buffer.compare(transaction.serialize(), bytes) === 0 ? transaction : undefined
  } catch {
    // The library throws for bytes that are not a transaction.
    return undefined
  }
}

function accountsOf({ message }: VersionedTransaction): readonly Address[] {
  return message.staticAccountKeys.flatMap((key) => readAddress(key.toBase58()) ?? [])
}

function signersOf({ message, signatures }: VersionedTransaction, accounts: readonly Address[]) {
  const count = message.header.numRequiredSignatures
  if (count === 0 || signatures.length !== count || accounts.length < count) return undefined
  return accounts.slice(0, count)
}

function signaturesHold({ message, signatures }: VersionedTransaction): boolean {
  const signed = message.serialize()
  return signatures.every((signature, index) => {
    const key = message.staticAccountKeys[index]
    return key !== undefined && verifyOnce({ message: signed, publicKey: key.toBytes(), signature })
  })
}

// Maximum of remembered signatures. A transaction is verified when it is presented, and again when a node returns it.
const verifiedMax = 5_000
const verified = new LRUCache<string, true>({ max: verifiedMax })

function verifyOnce(signed: SignedMessage): boolean {
  // Key and signature have fixed lengths, so two different triples never have the same bytes.
  const triple = sha256Hex(Buffer.concat([signed.publicKey, signed.signature, signed.message]))
  if (verified.has(triple)) return true
  if (!verifyEd25519(signed)) return false
  verified.set(triple, true)
  return true
}

const advanceNonceAccount = 4

function usesDurableNonce({ message }: VersionedTransaction): boolean {
  const [first] = message.compiledInstructions
  if (first === undefined || first.data.length < 4) return false
  const program = message.staticAccountKeys[first.programIdIndex]
  return (
    program?.equals(SystemProgram.programId) === true &&
    new DataView(first.data.buffer, first.data.byteOffset).getUint32(0, true) === advanceNonceAccount
  )
}

/**
 * Undefined for an unknown version. False if no transaction can be built or the signatures do not cover it: the node's
 * answer is then wrong and is ignored.
 */
export function rebuildTransaction({ version, transaction }: TransactionJson): Uint8Array | undefined | false {
  if (version !== undefined && version !== 'legacy' && version !== 0) return undefined
  const signatures = transaction.signatures.map((text) => decodeBase58(text, 64))
  const complete = signatures.every((signature) => signature !== undefined)
  if (!complete || signatures.length !== transaction.message.header.numRequiredSignatures) return false
  try {
    const message = version === 0 ? messageV0(transaction.message) : legacyMessage(transaction.message)
    const rebuilt = new VersionedTransaction(message, signatures)
    return signaturesHold(rebuilt) ? rebuilt.serialize() : false
  } catch {
    // Invalid keys, hashes and data are thrown, and mean that the node's answer is wrong.
    return false
  }
}

type MessageJson = TransactionJson['transaction']['message']

function legacyMessage({ header, accountKeys, recentBlockhash, instructions }: MessageJson): Message {
  return new Message({ header, accountKeys, recentBlockhash: recentBlockhash ?? '', instructions })
}

function messageV0({
  header,
  accountKeys,
  recentBlockhash,
  instructions,
  addressTableLookups,
}: MessageJson): MessageV0 {
  return new MessageV0({
    header,
    staticAccountKeys: accountKeys.map((key) => new PublicKey(key)),
    recentBlockhash: recentBlockhash ?? '',
    compiledInstructions: instructions.map(({ programIdIndex, accounts, data }) => {
      return { programIdIndex, accountKeyIndexes: accounts, data: decodeInstructionData(data) }
    }),
    addressTableLookups: (addressTableLookups ?? []).map((lookup) => ({
      ...lookup,
      accountKey: new PublicKey(lookup.accountKey),
    })),
  })
}
