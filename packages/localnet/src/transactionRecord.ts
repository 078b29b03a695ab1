import { resolveTransaction, type LoadedAddresses, type ResolvedTransaction } from './accountKeys.ts'
import { ByteReader } from './byteReader.ts'
import { ByteWriter } from './byteWriter.ts'
import { parseChainTransaction } from './chainTransaction.ts'
import type { ExecutionOutcome, InnerInstruction, InnerInstructions } from './executionOutcome.ts'
import type { Balances, TokenBalance } from './tokenBalances.ts'
import { transactionError } from './transactionError.ts'

/** A landed transaction with all the data that a node reports about it. */
export interface TransactionRecord {
  readonly slot: number
  readonly blockTimeSeconds: number
  readonly transaction: ResolvedTransaction
  readonly outcome: ExecutionOutcome
  readonly feeLamports: bigint
  readonly before: Balances
  readonly after: Balances
}

/**
 * Encodes a record for memory and disk. A record of burn, transfer and memo takes about 1.9 kB encoded, and 11 kB as
 * JavaScript objects. Each read decodes it.
 */
export function encodeRecord(record: TransactionRecord): Uint8Array {
  const { transaction, outcome } = record
  const writer = new ByteWriter()
  writer.u64(BigInt(record.slot)).u64(BigInt(record.blockTimeSeconds)).sized(transaction.wire)
  writeAddresses(writer, transaction.loaded.writable)
  writeAddresses(writer, transaction.loaded.readonly)
  writeOutcome(writer, outcome)
  writer.u64(record.feeLamports)
  writeBalances(writer, record.before)
  writeBalances(writer, record.after)
  return writer.finish()
}

/** The inverse of `encodeRecord`. Throws `MalformedBytes` for a damaged record. */
export function decodeRecord(bytes: Uint8Array): TransactionRecord {
  const reader = new ByteReader(bytes)
  return {
    slot: Number(reader.u64()),
    blockTimeSeconds: Number(reader.u64()),
    // The wire form contains everything except the loaded addresses, whose tables may have changed since.
    transaction: resolveTransaction(parseChainTransaction(reader.sized()), readLoaded(reader)),
    outcome: readOutcome(reader),
    feeLamports: reader.u64(),
    before: readBalances(reader),
    after: readBalances(reader),
  }
}

function writeAddresses(writer: ByteWriter, addresses: readonly Uint8Array[]): void {
  writer.u16(addresses.length)
  for (const address of addresses) writer.raw(address)
}

function readLoaded(reader: ByteReader): LoadedAddresses {
  return {
    writable: reader.list(reader.u16(), (from) => from.take(32)),
    readonly: reader.list(reader.u16(), (from) => from.take(32)),
  }
}

/**
 * Writes lists with their length in front, and fields without names. One file defines their order for writing and
 * reading.
 */
function writeOutcome(writer: ByteWriter, outcome: ExecutionOutcome): void {
  // Write the name instead of litesvm's number: a newer litesvm may renumber errors, and old journals must stay
  // readable.
  writer.text(JSON.stringify(outcome.error))
  writer.u16(outcome.logs.length)
  for (const line of outcome.logs) writer.text(line)
  writer.u16(outcome.innerInstructions.length)
  for (const { index, instructions } of outcome.innerInstructions) {
    writer.u8(index).u16(instructions.length)
    for (const each of instructions) {
      writer.u8(each.programIndex).u8(each.stackHeight).sized(each.accountIndexes).sized(each.data)
    }
  }
  writer.u64(outcome.unitsConsumed).u8(outcome.returnData === undefined ? 0 : 1)
  if (outcome.returnData !== undefined) writer.raw(outcome.returnData.program).sized(outcome.returnData.data)
}

function readOutcome(reader: ByteReader): ExecutionOutcome {
  return {
    error: transactionError.nullable().parse(JSON.parse(reader.text())),
    logs: reader.list(reader.u16(), (from) => from.text()),
    innerInstructions: reader.list(reader.u16(), readInnerInstructions),
    unitsConsumed: reader.u64(),
    returnData: reader.u8() === 0 ? undefined : { program: reader.take(32), data: reader.sized() },
  }
}

function readInnerInstructions(reader: ByteReader): InnerInstructions {
  return { index: reader.u8(), instructions: reader.list(reader.u16(), readInnerInstruction) }
}

/** Each field has its own statement, because the order of reading matters and an object's order is easily changed. */
function readInnerInstruction(reader: ByteReader): InnerInstruction {
  const programIndex = reader.u8()
  const stackHeight = reader.u8()
  return { programIndex, stackHeight, accountIndexes: reader.sized(), data: reader.sized() }
}

/**
 * Writes the balances of all accounts and of the token accounts among them. A record has them once before and once
 * after.
 */
function writeBalances(writer: ByteWriter, { lamports, tokens }: Balances): void {
  writer.u16(lamports.length)
  for (const each of lamports) writer.u64(each)
  writer.u16(tokens.length)
  for (const each of tokens) {
    writer.u8(each.accountIndex).raw(each.mint).raw(each.owner).raw(each.program).u64(each.amount).u8(each.decimals)
  }
}

function readBalances(reader: ByteReader): Balances {
  return {
    lamports: reader.list(reader.u16(), (from) => from.u64()),
    tokens: reader.list(reader.u16(), readTokenBalance),
  }
}

function readTokenBalance(reader: ByteReader): TokenBalance {
  return {
    accountIndex: reader.u8(),
    mint: reader.take(32),
    owner: reader.take(32),
    program: reader.take(32),
    amount: reader.u64(),
    decimals: reader.u8(),
  }
}
