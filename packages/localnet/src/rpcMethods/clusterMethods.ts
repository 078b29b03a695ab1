import { z } from 'zod'
import { encodeBase58 } from '@tollbook/core/base58'
import { sha256 } from '@tollbook/core/digest'
import type { ChainNode } from '../chainNode.ts'
import {
  type RpcMethods,
  addressParam,
  apiVersion,
  blockhashParam,
  commitmentOf,
  contextConfig,
  contextSlot,
  inContext,
  rpcMethod,
  slotParam,
} from '../rpcMethod.ts'
import { blockhashWindowSlots } from '../slots.ts'

/** Most clients send an empty list, some send no `params` at all. */
const noParams = z.tuple([]).or(z.undefined())
const onlyContext = z.tuple([contextConfig.optional()]).or(z.undefined())

/** Queries about the chain as a whole: its identity, its slots, its blockhashes. */
export function clusterMethods(node: ChainNode): RpcMethods {
  const identity = encodeBase58(sha256(Buffer.concat([Buffer.from('identity'), node.bank.genesis.hash])))
  return {
    getHealth: rpcMethod(noParams, () => {
      node.assertHealthy()
      return 'ok'
    }),
    getVersion: rpcMethod(noParams, () => ({ 'solana-core': apiVersion, 'feature-set': 0 })),
    getIdentity: rpcMethod(noParams, () => ({ identity })),
    getGenesisHash: rpcMethod(noParams, () => encodeBase58(node.bank.genesis.hash)),
    getSlot: rpcMethod(onlyContext, (params) => contextSlot(node, params?.[0])),
    // No slot is ever skipped here, so height and slot are one number.
    getBlockHeight: rpcMethod(onlyContext, (params) => contextSlot(node, params?.[0])),
    getSlotLeader: rpcMethod(onlyContext, () => identity),
    getSlotLeaders: rpcMethod(z.tuple([slotParam, slotParam.max(leadersMax)]), ([, limit]) =>
      Array.from({ length: limit }, () => identity),
    ),
    getEpochInfo: rpcMethod(onlyContext, (params) => epochInfo(node, contextSlot(node, params?.[0]))),
    getEpochSchedule: rpcMethod(noParams, () => ({
      slotsPerEpoch: node.bank.slotsPerEpoch,
      leaderScheduleSlotOffset: node.bank.slotsPerEpoch,
      warmup: false,
      firstNormalEpoch: 0,
      firstNormalSlot: 0,
    })),
    getTransactionCount: rpcMethod(onlyContext, () => node.history.length()),
    getLatestBlockhash: rpcMethod(onlyContext, (params) => latestBlockhash(node, contextSlot(node, params?.[0]))),
    isBlockhashValid: rpcMethod(z.tuple([blockhashParam, contextConfig.optional()]), ([blockhash, config]) => {
      const isValid = node.isBlockhashValid(encodeBase58(blockhash), commitmentOf(config))
      return inContext(contextSlot(node, config), isValid)
    }),
    getRecentPrioritizationFees: rpcMethod(
      z
        .tuple([z.array(addressParam).max(addressesMax).nullish()])
        .or(z.undefined())
        .or(z.tuple([])),
      () => prioritizationFees(node),
    ),
  }
}

/** The limits of a real node. */
const leadersMax = 5_000
const addressesMax = 128

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

/** The older the commitment asked for, the older the hash and the less is left of its 150 slots; as on a real node. */
function latestBlockhash(node: ChainNode, slot: number) {
  const value = { blockhash: node.bank.slots.blockhashOf(slot), lastValidBlockHeight: slot + blockhashWindowSlots }
  return inContext(slot, value)
}

/** Blocks are never full here, so priority fees are never needed. */
function prioritizationFees(node: ChainNode) {
  const newest = node.slotAt('confirmed')
  return Array.from({ length: blockhashWindowSlots }, (_, age) => ({
    slot: newest - blockhashWindowSlots + 1 + age,
    prioritizationFee: 0,
  }))
}
