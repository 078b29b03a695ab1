import { resolveTransaction } from './accountKeys.ts'
import { byteKey } from './byteKey.ts'
import { parseChainTransaction } from './chainTransaction.ts'
import { isTokenProgram } from './programs.ts'
import type { TokenBalance } from './tokenBalances.ts'
import type { TransactionError } from './transactionError.ts'
import type { TransactionRecord } from './transactionRecord.ts'

/*
 * Builds the false records that a lying node could send. If the message or the signature was changed, the signature no
 * longer verifies.
 */

export function withSignature(record: TransactionRecord, signature: Uint8Array): TransactionRecord {
  return rewritten(record, ({ signatures }) => signatures[0]?.set(signature))
}

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

/** Returns a false record, which has an error and moves no tokens. Its message and its balances in SOL are unchanged. */
export function failedRecord(record: TransactionRecord): TransactionRecord {
  const outcome = { ...record.outcome, error: claimedError, innerInstructions: [] }
  return { ...record, outcome, after: { ...record.after, tokens: record.before.tokens } }
}

/** Error of a false failure: the token programs' code for insufficient funds. */
export const claimedError: TransactionError = { InstructionError: [0, { Custom: 1 }] }

type Wire = ReturnType<typeof parseChainTransaction>

/** Copies the wire form first, because the transaction's byte strings are views of it. */
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

/** Instruction numbers of Transfer, MintTo, Burn and their checked forms. The amount follows this first byte. */
const instructionsWithAmount: ReadonlySet<string> = new Set(
  [3, 7, 8, 12, 14, 15].map((tag) => byteKey(Uint8Array.of(tag))),
)
const amountEnd = 9
