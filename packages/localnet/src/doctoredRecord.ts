import { resolveTransaction } from './accountKeys.ts'
import { byteKey } from './byteKey.ts'
import { parseChainTransaction } from './chainTransaction.ts'
import { isTokenProgram } from './programs.ts'
import type { TokenBalance } from './tokenBalances.ts'
import type { TransactionError } from './transactionError.ts'
import type { TransactionRecord } from './transactionRecord.ts'

/*
 * False records of a lying node. Each is consistent in itself, but the ed25519 signature no longer fits a changed
 * message.
 */

/** Returns the record with another signature. */
export function withSignature(record: TransactionRecord, signature: Uint8Array): TransactionRecord {
  return rewritten(record, ({ signatures }) => signatures[0]?.set(signature))
}

/** Scales token amounts, in instructions and in balance changes, to a percentage of the true ones. */
export function scaledRecord(record: TransactionRecord, percent: number): TransactionRecord {
  const scaled = rewritten(record, ({ message }) => {
    for (const { programIndex, data } of message.instructions) {
      const program = message.staticKeys[programIndex]
      if (program !== undefined && isTokenProgram(program)) scaleInstruction(data, percent)
    }
  })
  const before = new Map(record.before.tokens.map((balance) => [balance.accountIndex, balance.amount]))
  const tokens = record.after.tokens.map((balance): TokenBalance => {
    const amountBefore = before.get(balance.accountIndex) ?? 0n
    return { ...balance, amount: amountBefore + percentOf(balance.amount - amountBefore, percent) }
  })
  return { ...scaled, after: { ...record.after, tokens } }
}

/** Returns the record as a failure: the fee is paid, and no tokens move. The message and its signature stay unchanged. */
export function failedRecord(record: TransactionRecord): TransactionRecord {
  const outcome = { ...record.outcome, error: claimedError, innerInstructions: [] }
  return { ...record, outcome, after: { ...record.after, tokens: record.before.tokens } }
}

/** Insufficient funds, by the error code of the token programs. */
export const claimedError: TransactionError = { InstructionError: [0, { Custom: 1 }] }

type Wire = ReturnType<typeof parseChainTransaction>

/** Changes a copy, because the byte strings of a transaction are views of its wire form. */
function rewritten(record: TransactionRecord, change: (transaction: Wire) => void): TransactionRecord {
  const transaction = parseChainTransaction(new Uint8Array(record.transaction.wire))
  change(transaction)
  return { ...record, transaction: resolveTransaction(transaction, record.transaction.loaded) }
}

function scaleInstruction(data: Uint8Array, percent: number): void {
  if (data.length < amountEnd || !instructionsWithAmount.has(byteKey(data.subarray(0, 1)))) return
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  view.setBigUint64(1, percentOf(view.getBigUint64(1, true), percent), true)
}

function percentOf(amount: bigint, percent: number): bigint {
  return (amount * BigInt(percent)) / 100n
}

/** Transfer, MintTo, Burn and their checked forms. The amount follows the first byte. */
const instructionsWithAmount: ReadonlySet<string> = new Set(
  [3, 7, 8, 12, 14, 15].map((tag) => byteKey(Uint8Array.of(tag))),
)
const amountEnd = 9
