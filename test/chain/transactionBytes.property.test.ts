import { isDeepStrictEqual } from 'node:util'
import {
  Keypair,
  type MessageV0,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readTransaction, rebuildTransaction } from '../../src/chain/transactionBytes.ts'
import type { TransactionJson } from '../../src/chain/transactionJson.ts'
import { isRefusal } from '@tollbook/core/refusal'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'

const keypairs = Array.from({ length: 3 }, (_each, index) => Keypair.fromSeed(Buffer.alloc(32, index + 1)))
const accounts = Array.from({ length: 8 }, (_each, index) => new PublicKey(Buffer.alloc(32, index + 100)))
const blockhash = encodeBase58(Buffer.alloc(32, 77))

const instruction = fc
  .record({
    program: fc.constantFrom(...accounts),
    keys: fc.uniqueArray(fc.nat(accounts.length - 1), { maxLength: 4 }),
    signers: fc.uniqueArray(fc.nat(keypairs.length - 1), { maxLength: 2 }),
    isWritable: fc.boolean(),
    data: fc.uint8Array({ maxLength: 60 }),
  })
  .map(({ program, keys, signers, isWritable, data }) => ({
    programId: program,
    data: Buffer.from(data),
    keys: [
      ...keys.flatMap((at) => accounts[at] ?? []).map((pubkey) => ({ pubkey, isSigner: false, isWritable })),
      ...signers
        .flatMap((at) => keypairs[at]?.publicKey ?? [])
        .map((pubkey) => ({ pubkey, isSigner: true, isWritable })),
    ],
  }))

const lookup = fc
  .record({ accountKey: fc.constantFrom(...accounts), writable: fc.nat(3), readonly: fc.nat(3) })
  .map(({ accountKey, writable, readonly }) => ({
    accountKey,
    writableIndexes: Array.from({ length: writable }, (_each, index) => index),
    readonlyIndexes: Array.from({ length: readonly }, (_each, index) => 10 + index),
  }))

/** Signed transactions of both formats, with one to three signers. */
const transactions = fc
  .record({
    instructions: fc.array(instruction, { maxLength: 4 }),
    lookups: fc.option(fc.array(lookup, { maxLength: 2 })),
  })
  .map(({ instructions, lookups }) => sign(messageOf(instructions, lookups)))

type Instructions = ConstructorParameters<typeof TransactionMessage>[0]['instructions']
type Lookups = MessageV0['addressTableLookups']

function messageOf(instructions: Instructions, lookups: Lookups | null) {
  const [payer = Keypair.generate()] = keypairs
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions })
  if (lookups === null) return message.compileToLegacyMessage()
  const compiled = message.compileToV0Message()
  compiled.addressTableLookups.push(...lookups)
  return compiled
}

function sign(message: ReturnType<typeof messageOf>): VersionedTransaction {
  const transaction = new VersionedTransaction(message)
  const required = message.staticAccountKeys.slice(0, message.header.numRequiredSignatures)
  transaction.sign(keypairs.filter(({ publicKey }) => required.some((key) => key.equals(publicKey))))
  return transaction
}

/** The transaction as a node answers it. */
function jsonOf({ message, signatures, version }: VersionedTransaction): TransactionJson {
  return {
    slot: 1,
    version,
    transaction: {
      signatures: signatures.map(encodeBase58),
      message: {
        header: message.header,
        accountKeys: message.staticAccountKeys.map((key) => key.toBase58()),
        recentBlockhash: message.recentBlockhash,
        instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
          programIdIndex,
          accounts: accountKeyIndexes,
          data: encodeBase58(data),
        })),
        addressTableLookups: message.addressTableLookups.map(({ accountKey, ...indexes }) => ({
          ...indexes,
          accountKey: accountKey.toBase58(),
        })),
      },
    },
    meta: { err: null, innerInstructions: [], preTokenBalances: [], postTokenBalances: [] },
  }
}

describe('a transaction that a node answers in JSON', () => {
  test('is rebuilt to the very bytes that were signed', () => {
    fc.assert(
      fc.property(transactions, (transaction) => {
        const rebuilt = rebuildTransaction(jsonOf(transaction))
        expect(rebuilt === undefined || rebuilt === false ? rebuilt : hexOf(rebuilt)).toBe(
          hexOf(transaction.serialize()),
        )
      }),
    )
  })

  test('is not believed when any amount, account, signer or blockhash of it is another', () => {
    fc.assert(
      fc.property(transactions, fc.constantFrom(...alterations), (transaction, alter) => {
        const json = jsonOf(transaction)
        const altered = alter(json)
        fc.pre(!isDeepStrictEqual(altered, json))

        expect(rebuildTransaction(altered)).toBe(false)
      }),
    )
  })

  test('of a version that is not known here cannot be rebuilt, which is not the same as a lie', () => {
    expect(rebuildTransaction({ ...jsonOf(simplest()), version: 1 })).toBeUndefined()
  })
})

type Message = TransactionJson['transaction']['message']

const alterations: readonly ((json: TransactionJson) => TransactionJson)[] = [
  alterMessage((message) => ({ ...message, recentBlockhash: encodeBase58(Buffer.alloc(32, 78)) })),
  alterMessage((message) => ({ ...message, recentBlockhash: undefined })),
  alterMessage((message) => ({ ...message, accountKeys: message.accountKeys.toReversed() })),
  alterMessage((message) => ({ ...message, accountKeys: message.accountKeys.slice(1) })),
  alterMessage((message) => ({ ...message, instructions: message.instructions.slice(1) })),
  alterMessage(({ instructions, ...rest }) => ({
    ...rest,
    instructions: instructions.map((each) => ({ ...each, data: `${each.data}2` })),
  })),
  alterMessage(({ instructions, ...rest }) => ({
    ...rest,
    instructions: instructions.map((each) => ({ ...each, accounts: each.accounts.toReversed() })),
  })),
  alterMessage(({ header, ...rest }) => ({
    ...rest,
    header: { ...header, numReadonlyUnsignedAccounts: header.numReadonlyUnsignedAccounts + 1 },
  })),
  ({ transaction, ...json }) => ({
    ...json,
    transaction: { ...transaction, signatures: transaction.signatures.map(() => encodeBase58(Buffer.alloc(64, 5))) },
  }),
  ({ transaction, ...json }) => ({
    ...json,
    transaction: { ...transaction, signatures: [...transaction.signatures, ...transaction.signatures] },
  }),
]

function alterMessage(alter: (message: Message) => Message) {
  return ({ transaction, ...json }: TransactionJson): TransactionJson => ({
    ...json,
    transaction: { ...transaction, message: alter(transaction.message) },
  })
}

describe('a transaction that a caller presents', () => {
  test('is read with its first signature as the key and all who signed', () => {
    fc.assert(
      fc.property(transactions, (transaction) => {
        const bytes = transaction.serialize()
        const { numRequiredSignatures } = transaction.message.header
        expect(readTransaction(bytes)).toMatchObject({
          signature: encodeBase58(transaction.signatures[0] ?? Buffer.alloc(0)),
          signers: transaction.message.staticAccountKeys.slice(0, numRequiredSignatures).map(String),
          blockhash,
        })
      }),
    )
  })

  test('is refused when any one of its bits is another (I1)', () => {
    const bytes = twoSigners().serialize()
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = Buffer.from(bytes)
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(isRefusal(readTransaction(altered)), `bit ${bit}`).toBe(true)
    }
  })

  test.each(spellings())('%s is refused as %s, with no call to a node', (_name, reason, bytes) => {
    expect(readTransaction(bytes)).toMatchObject({ code: 'INVALID_PAYMENT', reason })
  })

  test('of arbitrary bytes never makes the reader throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(isRefusal(readTransaction(bytes))).toBe(true)
      }),
    )
  })

  test('begins with a nonce instruction of the system program and of no other', () => {
    const accountsOfNonce = { noncePubkey: assertAccount(0), authorizedPubkey: assertKeypair(0).publicKey }
    const { programId, keys, data } = SystemProgram.nonceAdvance(accountsOfNonce)
    const nonce = { programId, keys, data }
    const usesNonce = (instructions: Instructions) => {
      const read = readTransaction(sign(messageOf(instructions, [])).serialize())
      return isRefusal(read) ? read : read.usesDurableNonce
    }

    expect(usesNonce([nonce])).toBe(true)
    expect(usesNonce([{ ...nonce, programId: assertAccount(1) }])).toBe(false)
    expect(usesNonce([{ ...nonce, data: Buffer.from([5, 0, 0, 0]) }])).toBe(false)
    expect(usesNonce([{ ...nonce, data: Buffer.from([4, 0, 0]) }])).toBe(false)
    expect(usesNonce([])).toBe(false)
    const somethingElse = { programId: assertAccount(2), keys: [], data: Buffer.alloc(4) }
    expect(usesNonce([somethingElse, nonce])).toBe(false)
  })
})

function spellings(): readonly (readonly [string, string, Uint8Array])[] {
  const transaction = twoSigners()
  const bytes = Buffer.from(transaction.serialize())
  const unsigned = Buffer.from(bytes).fill(0, 1, 129)
  const withoutSecond = Buffer.from(bytes).fill(0, 65, 129)
  const swapped = Buffer.concat([
    bytes.subarray(0, 1),
    bytes.subarray(65, 129),
    bytes.subarray(1, 65),
    bytes.subarray(129),
  ])
  return [
    ['one without signatures', 'signature_invalid', unsigned],
    ['one whose second signer has not signed', 'signature_invalid', withoutSecond],
    ['one whose signatures are in the wrong places', 'signature_invalid', swapped],
    ['one with a byte behind it', 'malformed_proof', Buffer.concat([bytes, Buffer.from([0])])],
    ['one that lacks its last byte', 'malformed_proof', bytes.subarray(0, -1)],
    // The number of signatures, 2, in two bytes where one is enough.
    [
      'one with a longer spelling of a length',
      'malformed_proof',
      Buffer.concat([Buffer.from([0x82, 0x00]), bytes.subarray(1)]),
    ],
    [
      'one of version 1',
      'malformed_proof',
      Buffer.concat([bytes.subarray(0, 129), Buffer.from([0x81]), bytes.subarray(130)]),
    ],
    ['one of 1,233 bytes', 'malformed_proof', Buffer.alloc(1_233, 1)],
    ['no bytes', 'malformed_proof', Buffer.alloc(0)],
    ['one that claims to need no signature', 'malformed_proof', Buffer.from(`00${hexOf(bytes.subarray(129))}`, 'hex')],
  ]
}

function simplest(): VersionedTransaction {
  return sign(messageOf([], null))
}

function twoSigners(): VersionedTransaction {
  const both = [0, 1].map((at) => ({ pubkey: assertKeypair(at).publicKey, isSigner: true, isWritable: true }))
  return sign(messageOf([{ programId: assertAccount(3), keys: both, data: Buffer.from('pay') }], []))
}

function assertKeypair(at: number): Keypair {
  return assertPresent(keypairs[at], 'there are three')
}

function assertAccount(at: number): PublicKey {
  return assertPresent(accounts[at], 'there are eight')
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
