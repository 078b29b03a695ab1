import { z } from 'zod'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Bank } from '../bank.ts'
import type { HistoryEntry } from '../history.ts'
import { landedTransactionJson } from '../landedTransaction.ts'
import { transactionMemo } from '../memo.ts'
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
import { slotsUntil } from '../slots.ts'
import { errorJson, statusJson } from '../transactionMeta.ts'
import { transactionEncodings } from '../transactionJson.ts'

/** A node's limits. */
const statusesMax = 256
const signaturesMax = 1_000
/** Without `searchTransactionHistory` a node only knows the statuses of about the last 300 slots. */
const statusCacheSlots = 300

/** In place of a configuration, older clients send an encoding alone. */
const transactionConfig = z
  .enum(transactionEncodings)
  .transform((encoding) => ({ encoding, commitment: undefined, maxSupportedTransactionVersion: undefined }))
  .or(
    configParam({
      encoding: z.enum(transactionEncodings).nullish(),
      maxSupportedTransactionVersion: slotParam.nullish(),
    }),
  )

const statusesConfig = configParam({ searchTransactionHistory: z.boolean().nullish() })

const signaturesConfig = configParam({
  before: signatureParam.nullish(),
  until: signatureParam.nullish(),
  limit: z.number().int().positive().max(signaturesMax).nullish(),
})

/** Reads of what landed. All but the statuses need `confirmed` at least, because a younger slot may still be dropped. */
export function transactionMethods(bank: Bank): RpcMethods {
  return {
    getTransaction: rpcMethod(z.tuple([signatureParam, transactionConfig.optional()]), ([signature, config]) => {
      const commitment = atLeastConfirmed(config)
      const entry = bank.history.find(signature)
      if (entry === undefined || entry.slot > bank.slots.at(commitment)) return null
      const record = entry.record()
      const landed = landedTransactionJson(record, {
        encoding: config?.encoding ?? 'json',
        versionMax: config?.maxSupportedTransactionVersion,
      })
      return { slot: record.slot, blockTime: record.blockTimeSeconds, ...landed }
    }),
    getSignatureStatuses: rpcMethod(
      z.tuple([z.array(signatureParam).max(statusesMax), statusesConfig.optional()]),
      ([signatures, config]) => {
        const oldest = config?.searchTransactionHistory === true ? 0 : bank.slots.current - statusCacheSlots
        const statuses = signatures.map((signature) => signatureStatus(bank, signature, oldest))
        return inContext(contextSlot(bank, { commitment: 'processed' }), statuses)
      },
    ),
    getSignaturesForAddress: rpcMethod(z.tuple([addressParam, signaturesConfig.optional()]), ([address, config]) =>
      signaturesForAddress(bank, address, config),
    ),
  }
}

/** The one question that is answered at `processed` too; clients poll it while they wait. */
function signatureStatus(bank: Bank, signature: Uint8Array, oldestSlot: number): Json {
  const entry = bank.history.find(signature)
  if (entry === undefined || entry.slot < oldestSlot) return null
  const age = bank.slots.current - entry.slot
  return {
    slot: entry.slot,
    // Counts up to finality and is null from there on.
    confirmations: age < slotsUntil.finalized ? age : null,
    err: errorJson(entry.error),
    status: statusJson(entry.error),
    confirmationStatus: bank.slots.commitmentOf(entry.slot),
  }
}

/**
 * Newest first: from just before one signature (or the newest) down to just after another (or the first).
 * An unknown `before` yields an empty list and an unknown `until` sets no end, as on a real node.
 */
function signaturesForAddress(bank: Bank, address: Uint8Array, config: z.output<typeof signaturesConfig>): Json {
  const newestSlot = bank.slots.at(atLeastConfirmed(config))
  contextSlot(bank, config)
  const before = positionOr(bank, config?.before, { absent: Infinity, unknown: -1 })
  const until = positionOr(bank, config?.until, { absent: -1, unknown: -1 })
  const limit = config?.limit ?? signaturesMax
  const found: Json[] = []
  for (const entry of bank.history.mentioning(address)) {
    if (found.length === limit || entry.position <= until) break
    if (entry.position < before && entry.slot <= newestSlot) found.push(signatureInfo(bank, entry))
  }
  return found
}

interface Otherwise {
  readonly absent: number
  readonly unknown: number
}

function positionOr(bank: Bank, signature: Uint8Array | null | undefined, otherwise: Otherwise): number {
  if (signature === null || signature === undefined) return otherwise.absent
  return bank.history.positionOf(signature) ?? otherwise.unknown
}

function signatureInfo(bank: Bank, entry: HistoryEntry): Json {
  const record = entry.record()
  return {
    signature: encodeBase58(entry.signature),
    slot: entry.slot,
    err: errorJson(entry.error),
    memo: transactionMemo(record.transaction) ?? null,
    blockTime: record.blockTimeSeconds,
    confirmationStatus: bank.slots.commitmentOf(entry.slot),
  }
}
