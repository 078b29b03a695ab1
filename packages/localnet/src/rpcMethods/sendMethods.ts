import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import type { ResolvedTransaction } from '../accountKeys.ts'
import type { ChainNode } from '../chainNode.ts'
import type { ChainTransaction } from '../chainTransaction.ts'
import type { ExecutionOutcome } from '../executionOutcome.ts'
import { RpcError, invalidParams, rpcErrorCodes } from '../rpcError.ts'
import {
  type RpcMethods,
  addressParam,
  commitmentParam,
  configParam,
  contextConfig,
  contextSlot,
  rpcMethod,
  slotParam,
} from '../rpcMethod.ts'
import type { Commitment } from '../slots.ts'
import { describeTransactionError } from '../transactionError.ts'
import { returnDataJson } from '../transactionMeta.ts'
import { readWireParam, wireEncodings } from '../wireParam.ts'

const sendConfig = configParam({
  encoding: z.enum(wireEncodings).nullish(),
  skipPreflight: z.boolean().nullish(),
  preflightCommitment: commitmentParam,
  maxRetries: slotParam.nullish(),
})

export function sendMethods(node: ChainNode): RpcMethods {
  return {
    sendTransaction: rpcMethod(z.tuple([z.string(), sendConfig.optional()]), ([text, config]) => {
      const skipPreflight = config?.skipPreflight === true
      const commitment = skipPreflight ? 'processed' : (config?.preflightCommitment ?? 'finalized')
      contextSlot(node, { commitment, minContextSlot: config?.minContextSlot })
      const transaction = readWireParam(text, config?.encoding ?? 'base58')
      return send(node, transaction, { skipPreflight, commitment })
    }),
    requestAirdrop: rpcMethod(
      z.tuple([addressParam, z.number().int().positive().max(airdropLamportsMax), contextConfig.optional()]),
      ([to, lamports]) => encodeBase58(node.bank.airdrop(to, BigInt(lamports))),
    ),
  }
}

interface SendOptions {
  readonly skipPreflight: boolean
  /** Commitment whose state the node uses to check the transaction before it forwards it. */
  readonly commitment: Commitment
}

/** Executes the transaction immediately, without a queue, unless the node withholds it or it can no longer land. */
function send(node: ChainNode, transaction: ChainTransaction, options: SendOptions): Json {
  const signature = encodeBase58(assertPresent(transaction.signatures[0], 'the reader insists on a signature'))
  const { bank } = node
  const refusal = bank.refusal(transaction, bank.slots.current)
  if (!options.skipPreflight) preflight(node, transaction, options.commitment)
  const resolved = resolveOrRefuse(node, transaction, options.commitment)
  // Return the signature without an error, because a node forwards every transaction that it accepts. A duplicate or
  // expired transaction then has no effect.
  if (node.withholds(resolved) || refusal !== undefined) return signature
  if (bank.execute(resolved, options.skipPreflight) === 'SignatureFailure') throw signatureFailure()
  return signature
}

function preflight(node: ChainNode, transaction: ChainTransaction, commitment: Commitment): void {
  node.assertHealthy()
  const refusal = node.refusal(transaction, commitment)
  if (refusal !== undefined) throw preflightFailure({ ...nothingHappened, error: refusal })
  const outcome = node.preflight(resolveOrRefuse(node, transaction, commitment), commitment)
  if (outcome.error === 'SignatureFailure') throw signatureFailure()
  if (outcome.error !== null) throw preflightFailure(outcome)
}

/** Resolves the lookups. As on a real node, a failed lookup is an error of the parameters. */
export function resolveOrRefuse(
  node: ChainNode,
  transaction: ChainTransaction,
  commitment: Commitment,
): ResolvedTransaction {
  const resolved = node.resolve(transaction, commitment)
  if (typeof resolved !== 'string') return resolved
  throw invalidParams(`invalid transaction: ${describeTransactionError(resolved)}`)
}

/**
 * Returns an error for an invalid signature. Without preflight, a real node would silently drop the transaction, but an
 * error is more useful to client developers.
 */
export function signatureFailure(): RpcError {
  return new RpcError(rpcErrorCodes.signatureVerificationFailure, 'Transaction signature verification failure')
}

/** Returns the error of a failed preflight. web3.js copies the logs in `data` into `SendTransactionError`. */
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
/** Maximum of one airdrop in lamports: one million SOL. */
const airdropLamportsMax = 1_000_000_000_000_000
