import { z } from 'zod'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import { type ResolvedTransaction, keyAt } from '../accountKeys.ts'
import type { ChainNode } from '../chainNode.ts'
import type { HistoryEntry } from '../history.ts'
import { memoText } from '../parsedInstruction.ts'
import { programNameOf } from '../programs.ts'
import { RpcError, rpcErrorCodes } from '../rpcError.ts'
import {
  type RpcMethods,
  addressParam,
  atLeastConfirmed,
  configParam,
  contextSlot,
  inContext,
  rpcMethod,
  signatureParam,
  slotParam,
} from '../rpcMethod.ts'
import { statusJson, transactionMetaJson } from '../transactionMeta.ts'
import { transactionEncodings, transactionJson } from '../transactionJson.ts'

/** Maximum numbers of signatures in one request for statuses and in one list, as on a real node. */
const statusesMax = 256
const signaturesMax = 1_000

const transactionConfig = configParam({
  encoding: z.enum(transactionEncodings).nullish(),
  maxSupportedTransactionVersion: slotParam.nullish(),
})

const statusesConfig = configParam({ searchTransactionHistory: z.boolean().nullish() })

const signaturesConfig = configParam({
  before: signatureParam.nullish(),
  until: signatureParam.nullish(),
  limit: z.number().int().positive().max(signaturesMax).nullish(),
})

/** All methods except `getSignatureStatuses` need at least `confirmed`, because a more recent slot may still be dropped. */
export function transactionMethods(node: ChainNode): RpcMethods {
  return {
    getTransaction: rpcMethod(z.tuple([signatureParam, transactionConfig.optional()]), ([signature, config]) => {
      const commitment = atLeastConfirmed(config)
      const entry = node.history.find(signature, commitment)
      if (entry === undefined) return null
      const record = entry.record()
      const encoding = config?.encoding ?? 'json'
      return {
        slot: record.slot,
        blockTime: record.blockTimeSeconds,
        ...versionJson(record.transaction.message.version, config?.maxSupportedTransactionVersion),
        transaction: transactionJson(record.transaction, encoding),
        meta: transactionMetaJson(record, encoding),
      }
    }),
    getSignatureStatuses: rpcMethod(
      z.tuple([z.array(signatureParam).max(statusesMax), statusesConfig.optional()]),
      ([signatures, config]) => {
        const searchStored = config?.searchTransactionHistory === true
        const statuses = signatures.map((signature) => signatureStatus(node, signature, searchStored))
        return inContext(contextSlot(node, { commitment: 'processed' }), statuses)
      },
    ),
    getSignaturesForAddress: rpcMethod(z.tuple([addressParam, signaturesConfig.optional()]), ([address, config]) =>
      signaturesForAddress(node, address, config),
    ),
  }
}

/**
 * A client that states no maximum version gets no `version`. For a v0 transaction it gets an error, because it would
 * misread the transaction.
 */
function versionJson(
  version: 'legacy' | 0,
  versionMax: number | null | undefined,
): { readonly version?: 'legacy' | 0 } {
  if (versionMax !== null && versionMax !== undefined) return { version }
  if (version === 'legacy') return {}
  throw new RpcError(
    rpcErrorCodes.unsupportedTransactionVersion,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  )
}

/** Returns the status even at `processed`, because clients poll it while they wait. */
function signatureStatus(node: ChainNode, signature: Uint8Array, searchStored: boolean): Json {
  const entry = node.history.findStatus(signature, searchStored)
  if (entry === undefined) return null
  const confirmationStatus = node.commitmentOf(entry.slot)
  return {
    slot: entry.slot,
    // Number of slots that have followed, until finality. Null when final.
    confirmations: confirmationStatus === 'finalized' ? null : node.slotAt('processed') - entry.slot,
    err: entry.error,
    status: statusJson(entry.error),
    confirmationStatus,
  }
}

/**
 * Lists signatures, newest first, from just before `before` to just after `until`. As on a real node, an unknown
 * `before` yields an empty list, and an unknown `until` sets no end.
 */
function signaturesForAddress(node: ChainNode, address: Uint8Array, config: z.output<typeof signaturesConfig>): Json {
  const commitment = atLeastConfirmed(config)
  node.history.assertStored()
  contextSlot(node, config)
  const before = positionOr(node, config?.before, { absent: Infinity, unknown: -1 })
  const until = positionOr(node, config?.until, { absent: -1, unknown: -1 })
  const limit = config?.limit ?? signaturesMax
  const found: Json[] = []
  for (const entry of node.history.mentioning(address, commitment)) {
    if (found.length === limit || entry.position <= until) break
    if (entry.position < before) found.push(signatureInfo(node, entry))
  }
  return found
}

interface Otherwise {
  readonly absent: number
  readonly unknown: number
}

function positionOr(node: ChainNode, signature: Uint8Array | null | undefined, otherwise: Otherwise): number {
  if (signature === null || signature === undefined) return otherwise.absent
  return node.history.positionOf(signature) ?? otherwise.unknown
}

function signatureInfo(node: ChainNode, entry: HistoryEntry): Json {
  const record = entry.record()
  return {
    signature: encodeBase58(entry.signature),
    slot: entry.slot,
    err: entry.error,
    memo: memosOf(record.transaction),
    blockTime: record.blockTimeSeconds,
    confirmationStatus: node.commitmentOf(entry.slot),
  }
}

/** Returns all memos in one line, each prefixed with its length in brackets. Null without a memo. */
function memosOf({ message, keys }: ResolvedTransaction): string | null {
  const memos: string[] = []
  for (const { programIndex, data } of message.instructions) {
    const program = programNameOf(keyAt(keys, programIndex).address)
    if (program !== 'memo' && program !== 'memoV1') continue
    memos.push(`[${data.length}] ${memoText(data) ?? '(unparseable)'}`)
  }
  return memos.length === 0 ? null : memos.join('; ')
}
