import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import type { AccountKey, LoadedAddresses } from './accountKeys.ts'
import type { InnerInstructions, ReturnData } from './executionOutcome.ts'
import { parsedInstructionJson } from './parsedInstruction.ts'
import type { TokenBalance } from './tokenBalances.ts'
import { tokenAmountJson } from './tokenAmount.ts'
import type { TransactionError } from './transactionError.ts'
import { type TransactionEncoding, instructionJson } from './transactionJson.ts'
import type { TransactionRecord } from './transactionRecord.ts'

export function transactionMetaJson(record: TransactionRecord, encoding: TransactionEncoding): Json {
  const { outcome, before, after, transaction } = record
  const parsed = encoding === 'jsonParsed'
  return {
    err: outcome.error,
    status: statusJson(outcome.error),
    fee: Number(record.feeLamports),
    preBalances: before.lamports.map(Number),
    postBalances: after.lamports.map(Number),
    // Return a list even if it is empty, so that a verifier can distinguish "none" from "not recorded".
    innerInstructions: innerInstructionsJson(outcome.innerInstructions, { keys: transaction.keys, parsed }),
    logMessages: outcome.logs,
    preTokenBalances: before.tokens.map(tokenBalanceJson),
    postTokenBalances: after.tokens.map(tokenBalanceJson),
    rewards: [],
    // `jsonParsed` lists these addresses among its account keys instead.
    ...(parsed ? {} : { loadedAddresses: loadedAddressesJson(transaction.loaded) }),
    ...(outcome.returnData === undefined ? {} : { returnData: returnDataJson(outcome.returnData) }),
    computeUnitsConsumed: Number(outcome.unitsConsumed),
  }
}

/** Returns the older JSON form of an error, which nodes still send in addition to `err`. */
export function statusJson(error: TransactionError | null): Json {
  return error === null ? { Ok: null } : { Err: error }
}

export interface InnerInstructionsStyle {
  readonly keys: readonly AccountKey[]
  readonly parsed: boolean
}

export function innerInstructionsJson(lists: readonly InnerInstructions[], style: InnerInstructionsStyle): Json {
  const { keys, parsed } = style
  return lists.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((instruction) => {
      const { stackHeight } = instruction
      return parsed
        ? parsedInstructionJson({ instruction, keys, stackHeight })
        : instructionJson(instruction, stackHeight)
    }),
  }))
}

export function tokenBalanceJson(balance: TokenBalance): Json {
  const uiTokenAmount = tokenAmountJson(balance.amount, balance.decimals)
  // Return null for an empty account, as nodes do: they store this number in a format that omits zero.
  const uiAmount = balance.amount === 0n ? null : uiTokenAmount.uiAmount
  return {
    accountIndex: balance.accountIndex,
    mint: encodeBase58(balance.mint),
    owner: encodeBase58(balance.owner),
    programId: encodeBase58(balance.program),
    uiTokenAmount: { ...uiTokenAmount, uiAmount },
  }
}

export function loadedAddressesJson(loaded: LoadedAddresses): Json {
  return { writable: loaded.writable.map(encodeBase58), readonly: loaded.readonly.map(encodeBase58) }
}

/** Nodes support only base64 for return data. */
export function returnDataJson({ program, data }: ReturnData): Json {
  return { programId: encodeBase58(program), data: [Buffer.from(data).toString('base64'), 'base64'] }
}
