import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import type { ResolvedTransaction } from '../accountKeys.ts'
import type { Bank } from '../bank.ts'
import type { ChainTransaction } from '../chainTransaction.ts'
import type { ExecutionOutcome } from '../executionOutcome.ts'
import { programNameOf } from '../programs.ts'
import { RpcError, invalidParams, rpcErrorCodes } from '../rpcError.ts'
import {
  type RpcMethods,
  addressParam,
  configParam,
  contextConfig,
  contextSlot,
  rpcMethod,
  slotParam,
} from '../rpcMethod.ts'
import { describeTransactionError } from '../transactionError.ts'
import { returnDataJson } from '../transactionMeta.ts'
import { readWireParam, wireEncodings } from '../wireParam.ts'

const sendConfig = configParam({
  encoding: z.enum(wireEncodings).nullish(),
  skipPreflight: z.boolean().nullish(),
  preflightCommitment: z.string().nullish(),
  maxRetries: slotParam.nullish(),
})

/** The methods that change the chain. */
export function sendMethods(bank: Bank): RpcMethods {
  return {
    sendTransaction: rpcMethod(z.tuple([z.string(), sendConfig.optional()]), ([text, config]) => {
      contextSlot(bank, { commitment: 'processed', minContextSlot: config?.minContextSlot })
      const transaction = readWireParam(text, config?.encoding ?? 'base58')
      return send(bank, transaction, config?.skipPreflight === true)
    }),
    requestAirdrop: rpcMethod(
      z.tuple([addressParam, z.number().int().positive().max(airdropLamportsMax), contextConfig.optional()]),
      ([to, lamports]) => encodeBase58(bank.airdrop(to, BigInt(lamports))),
    ),
  }
}

/** One transaction is executed or it is not: there is no queue, so a signature that is answered has its outcome. */
function send(bank: Bank, transaction: ChainTransaction, skipPreflight: boolean): Json {
  const signature = encodeBase58(assertPresent(transaction.signatures[0], 'the reader insists on a signature'))
  const refusal = bank.refusal(transaction)
  if (refusal === 'BlockhashNotFound') refuseNonce(transaction)
  if (refusal !== undefined) {
    // Without preflight a node passes on what it gets; a duplicate or an expired one then comes to nothing.
    if (skipPreflight) return signature
    throw preflightFailure({ ...nothingHappened, error: refusal })
  }
  const resolved = resolveOrRefuse(bank, transaction)
  if (!skipPreflight) {
    const outcome = bank.preflight(resolved)
    if (outcome.error === 'SignatureFailure') throw signatureFailure()
    if (outcome.error !== null) throw preflightFailure(outcome)
  }
  if (bank.execute(resolved, skipPreflight) === 'SignatureFailure') throw signatureFailure()
  return signature
}

/** A lookup that leads nowhere is the caller's mistake and not a failed simulation, on a real node too. */
export function resolveOrRefuse(bank: Bank, transaction: ChainTransaction): ResolvedTransaction {
  const resolved = bank.resolve(transaction)
  if (typeof resolved !== 'string') return resolved
  throw invalidParams(`invalid transaction: ${describeTransactionError(resolved)}`)
}

/** A real node without preflight would accept it and drop it silently, which does not help developers of clients. */
export function signatureFailure(): RpcError {
  return new RpcError(rpcErrorCodes.signatureVerificationFailure, 'Transaction signature verification failure')
}

/** litesvm has no durable nonces: better a clear word than a "blockhash not found" that sends people searching. */
function refuseNonce({ message }: ChainTransaction): void {
  const [first] = message.instructions
  const program = first === undefined ? undefined : message.staticKeys[first.programIndex]
  if (first === undefined || program === undefined || programNameOf(program) !== 'system') return
  if (Buffer.from(first.data).toString('hex') !== advanceNonceData) return
  throw invalidParams('invalid transaction: the local chain does not support durable nonces; use a recent blockhash')
}

/** `data` is a simulation's answer; web3.js takes the logs from it for its `SendTransactionError`. */
function preflightFailure(outcome: ExecutionOutcome): RpcError {
  const error = assertPresent(outcome.error, 'a failure has an error')
  const message = `Transaction simulation failed: ${describeTransactionError(error)}`
  return new RpcError(rpcErrorCodes.preflightFailure, message, {
    accounts: null,
    err: error,
    innerInstructions: null,
    logs: outcome.logs,
    replacementBlockhash: null,
    returnData: outcome.returnData === undefined ? null : returnDataJson(outcome.returnData),
    unitsConsumed: Number(outcome.unitsConsumed),
  })
}

const nothingHappened = { logs: [], innerInstructions: [], unitsConsumed: 0n, returnData: undefined }
/** System instruction 4 as a u32: AdvanceNonceAccount, which has to come first in a durable transaction. */
const advanceNonceData = '04000000'
/** A million SOL in one go. */
const airdropLamportsMax = 1_000_000_000_000_000
