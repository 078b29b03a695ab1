import { z } from 'zod'
import { assertNever } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import type { ChainNode } from '../chainNode.ts'
import type { HistoryEntry } from '../history.ts'
import { landedTransactionJson, versionJson } from '../landedTransaction.ts'
import { RpcError, invalidParams, rpcErrorCodes } from '../rpcError.ts'
import { type RpcMethods, atLeastConfirmed, configParam, contextConfig, rpcMethod, slotParam } from '../rpcMethod.ts'
import type { Commitment } from '../slots.ts'
import { accountKeysJson, transactionEncodings } from '../transactionJson.ts'
import { transactionMetaJson } from '../transactionMeta.ts'

const blockConfig = configParam({
  encoding: z.enum(transactionEncodings).nullish(),
  transactionDetails: z.enum(['full', 'accounts', 'signatures', 'none']).nullish(),
  rewards: z.boolean().nullish(),
  maxSupportedTransactionVersion: slotParam.nullish(),
})

type BlockConfig = z.output<typeof blockConfig>

/**
 * Reads of blocks. Every slot has one here, most of them empty, and none is stored:
 * a block is assembled on request from the history and from the line of blockhashes.
 */
export function blockMethods(node: ChainNode): RpcMethods {
  return {
    getBlock: rpcMethod(z.tuple([slotParam, blockConfig.optional()]), ([slot, config]) => block(node, slot, config)),
    getBlocks: rpcMethod(z.tuple([slotParam, slotParam.nullish(), contextConfig.optional()]), ([first, last, config]) =>
      slotRange(node, { first, last: last ?? Infinity, commitment: atLeastConfirmed(config) }),
    ),
    getBlocksWithLimit: rpcMethod(z.tuple([slotParam, slotParam, contextConfig.optional()]), ([first, limit, config]) =>
      slotRange(node, { first, last: first + limit - 1, commitment: atLeastConfirmed(config) }),
    ),
    getBlockTime: rpcMethod(z.tuple([slotParam]), ([slot]) => {
      checkAvailable(node, slot, 'confirmed')
      return node.bank.blockTimeSeconds(slot) ?? null
    }),
    getFirstAvailableBlock: rpcMethod(z.tuple([]).or(z.undefined()), () => oldestBlock),
    minimumLedgerSlot: rpcMethod(z.tuple([]).or(z.undefined()), () => oldestBlock),
  }
}

function block(node: ChainNode, slot: number, config: BlockConfig): Json {
  node.history.assertStored()
  checkAvailable(node, slot, atLeastConfirmed(config))
  const entries = node.history.inSlot(slot)
  return {
    blockhash: node.bank.slots.blockhashOf(slot),
    previousBlockhash: node.bank.slots.blockhashOf(slot - 1),
    parentSlot: slot - 1,
    blockHeight: slot,
    blockTime: node.bank.blockTimeSeconds(slot) ?? null,
    ...(config?.rewards === false ? {} : { rewards: [] }),
    ...transactionsJson(entries, config),
  }
}

function transactionsJson(entries: readonly HistoryEntry[], config: BlockConfig): Readonly<Record<string, Json>> {
  const details = config?.transactionDetails ?? 'full'
  switch (details) {
    case 'none':
      return {}
    case 'signatures':
      return { signatures: entries.map(({ signature }) => encodeBase58(signature)) }
    case 'accounts':
      return { transactions: entries.map((entry) => withAccountsOnly(entry, config)) }
    case 'full':
      return { transactions: entries.map((entry) => landedTransactionJson(entry.record(), styleOf(config))) }
    default:
      return assertNever(details)
  }
}

function styleOf(config: BlockConfig) {
  return { encoding: config?.encoding ?? 'json', versionMax: config?.maxSupportedTransactionVersion } as const
}

/** Participants without their instructions: the cheap form for clients that follow balances. */
function withAccountsOnly(entry: HistoryEntry, config: BlockConfig): Json {
  const record = entry.record()
  const { signatures, keys, message } = record.transaction
  return {
    transaction: { signatures: signatures.map(encodeBase58), accountKeys: accountKeysJson(keys) },
    meta: transactionMetaJson(record, 'jsonParsed'),
    ...versionJson(message.version, config?.maxSupportedTransactionVersion),
  }
}

/**
 * Blocks that do not exist yet and blocks that are pruned have different codes, and clients wait only for the first.
 */
function checkAvailable(node: ChainNode, slot: number, commitment: Commitment): void {
  if (slot > node.slotAt(commitment)) {
    throw new RpcError(rpcErrorCodes.blockNotAvailable, `Block not available for slot ${slot}`)
  }
  if (slot < oldestBlock) {
    const message = `Block ${slot} cleaned up, does not exist on node. First available block: ${oldestBlock}`
    throw new RpcError(rpcErrorCodes.blockCleanedUp, message)
  }
}

interface SlotRange {
  readonly first: number
  readonly last: number
  readonly commitment: Commitment
}

function slotRange(node: ChainNode, range: SlotRange): Json {
  const first = Math.max(range.first, oldestBlock)
  const last = Math.min(range.last, node.slotAt(range.commitment))
  if (last - first > slotRangeMax) throw invalidParams(`Slot range too large; max ${slotRangeMax}`)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
}

/** Slot 0 has no parent. The slots before a chain's first one exist, with empty blocks. */
const oldestBlock = 1
/** A node's limit. */
const slotRangeMax = 500_000
