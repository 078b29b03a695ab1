import { z } from 'zod'
import { encodeBase58 } from '@tollbook/core/base58'
import type { ChainNode } from '../chainNode.ts'
import { RpcError, rpcErrorCodes } from '../rpcError.ts'
import {
  type RpcMethods,
  apiVersion,
  blockhashParam,
  commitmentOf,
  contextConfig,
  contextSlot,
  inContext,
  rpcMethod,
  slotParam,
} from '../rpcMethod.ts'

/** Most clients send an empty list, but some omit `params`. */
const noParams = z.tuple([]).or(z.undefined())
const onlyContext = z.tuple([contextConfig.optional()]).or(z.undefined())

export function clusterMethods(node: ChainNode): RpcMethods {
  return {
    getHealth: rpcMethod(noParams, () => {
      node.assertHealthy()
      return 'ok'
    }),
    getVersion: rpcMethod(noParams, () => ({ 'solana-core': apiVersion, 'feature-set': 0 })),
    getGenesisHash: rpcMethod(noParams, () => encodeBase58(node.bank.genesis.hash)),
    getSlot: rpcMethod(onlyContext, (params) => contextSlot(node, params?.[0])),
    // This chain never skips a slot, so its height equals its slot.
    getBlockHeight: rpcMethod(onlyContext, (params) => contextSlot(node, params?.[0])),
    getEpochInfo: rpcMethod(onlyContext, (params) => epochInfo(node, contextSlot(node, params?.[0]))),
    getTransactionCount: rpcMethod(onlyContext, () => node.history.length()),
    getLatestBlockhash: rpcMethod(onlyContext, (params) => {
      const slot = contextSlot(node, params?.[0])
      return inContext(slot, blockhashJson(node, slot))
    }),
    isBlockhashValid: rpcMethod(z.tuple([blockhashParam, contextConfig.optional()]), ([blockhash, config]) => {
      const isValid = node.isBlockhashValid(encodeBase58(blockhash), commitmentOf(config))
      return inContext(contextSlot(node, config), isValid)
    }),
    getBlockTime: rpcMethod(z.tuple([slotParam]), ([slot]) => {
      if (slot > node.slotAt('confirmed'))
        throw new RpcError(rpcErrorCodes.blockNotAvailable, `Block not available for slot ${slot}`)
      return node.bank.blockTimeSeconds(slot) ?? null
    }),
    getFirstAvailableBlock: rpcMethod(noParams, () => oldestBlock),
  }
}

/** Oldest block that nodes report. Slots before the chain's first slot count as empty blocks. */
const oldestBlock = 1

function epochInfo(node: ChainNode, slot: number) {
  return {
    absoluteSlot: slot,
    blockHeight: slot,
    epoch: Math.floor(slot / node.bank.slotsPerEpoch),
    slotIndex: slot % node.bank.slotsPerEpoch,
    slotsInEpoch: node.bank.slotsPerEpoch,
    transactionCount: node.history.length(),
  }
}

/** Returns the blockhash of the slot. At an older commitment, it is valid for fewer further slots. */
export function blockhashJson({ bank: { slots } }: ChainNode, slot: number) {
  return { blockhash: slots.blockhashOf(slot), lastValidBlockHeight: slot + slots.blockhashSlots }
}
