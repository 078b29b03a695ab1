import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { resolveTransaction } from '@tollbook/localnet/accountKeys'
import { parseChainTransaction } from '@tollbook/localnet/chainTransaction'
import type { TransactionError } from '@tollbook/localnet/transactionError'
import { type TransactionRecord, decodeRecord, encodeRecord } from '@tollbook/localnet/transactionRecord'

const byte = fc.nat({ max: 255 })
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const bytes = fc.uint8Array({ maxLength: 80 })
const address = fc.uint8Array({ minLength: 32, maxLength: 32 })
const u32 = fc.nat({ max: 0xffff_ffff })

const instructionError = fc.oneof(
  fc.string(),
  u32.map((Custom) => ({ Custom })),
  fc.string().map((BorshIoError) => ({ BorshIoError })),
)
const error: fc.Arbitrary<TransactionError | null> = fc.oneof(
  fc.constant(null),
  fc.string(),
  fc.tuple(byte, instructionError).map((InstructionError) => ({ InstructionError })),
  byte.map((DuplicateInstruction) => ({ DuplicateInstruction })),
  byte.map((account_index) => ({ InsufficientFundsForRent: { account_index } })),
  byte.map((account_index) => ({ ProgramExecutionTemporarilyRestricted: { account_index } })),
)

const tokenBalance = fc.record({
  accountIndex: byte,
  mint: address,
  owner: address,
  program: address,
  amount: u64,
  decimals: byte,
})
const balances = fc.record({ lamports: fc.array(u64), tokens: fc.array(tokenBalance) })
const inner = fc.record({ programIndex: byte, accountIndexes: bytes, data: bytes, stackHeight: byte })

const record: fc.Arbitrary<TransactionRecord> = fc.record({
  slot: fc.nat(),
  blockTimeSeconds: fc.nat(),
  transaction: fc.constant(resolvedTransaction()),
  outcome: fc.record({
    error,
    logs: fc.array(fc.string({ unit: 'grapheme' })),
    innerInstructions: fc.array(fc.record({ index: byte, instructions: fc.array(inner) })),
    unitsConsumed: u64,
    returnData: fc.option(fc.record({ program: address, data: bytes }), { nil: undefined }),
  }),
  feeLamports: u64,
  before: balances,
  after: balances,
})

test('a record is the same after it was stored', () => {
  fc.assert(
    fc.property(record, (each) => {
      expect(decodeRecord(encodeRecord(each))).toEqual(each)
    }),
  )
})

function resolvedTransaction() {
  const payer = Keypair.generate()
  const transfer = { fromPubkey: payer.publicKey, toPubkey: Keypair.generate().publicKey, lamports: 1 }
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: Keypair.generate().publicKey.toBase58(),
    instructions: [SystemProgram.transfer(transfer)],
  }).compileToV0Message()
  const transaction = new VersionedTransaction(message)
  transaction.sign([payer])
  const loaded = {
    writable: [Keypair.generate().publicKey.toBytes()],
    readonly: [Keypair.generate().publicKey.toBytes()],
  }
  return decodedOnce(resolveTransaction(parseChainTransaction(transaction.serialize()), loaded))
}

/** With views of the same kind as the decoder makes, because `toEqual` tells a Buffer from a Uint8Array. */
function decodedOnce(transaction: TransactionRecord['transaction']): TransactionRecord['transaction'] {
  const nothing = { lamports: [], tokens: [] }
  const outcome = { error: null, logs: [], innerInstructions: [], unitsConsumed: 0n, returnData: undefined }
  const plain = { slot: 0, blockTimeSeconds: 0, feeLamports: 0n, before: nothing, after: nothing }
  return decodeRecord(encodeRecord({ ...plain, transaction, outcome })).transaction
}
