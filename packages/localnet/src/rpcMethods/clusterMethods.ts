import { z } from 'zod'
import { encodeBase58 } from '@tollbook/core/base58'
import { sha256 } from '@tollbook/core/digest'
import type { Bank } from '../bank.ts'
import {
  type RpcMethods,
  addressParam,
  apiVersion,
  blockhashParam,
  contextConfig,
  contextSlot,
  inContext,
  rpcMethod,
  slotParam,
} from '../rpcMethod.ts'
import { blockhashWindowSlots, slotsUntil } from '../slots.ts'

/** Most clients send an empty list, some send no `params` at all. */
const noParams = z.tuple([]).or(z.undefined())
const onlyContext = z.tuple([contextConfig.optional()]).or(z.undefined())

/** Queries about the chain as a whole: its identity, its slots, its blockhashes. */
export function clusterMethods(bank: Bank): RpcMethods {
  const identity = encodeBase58(sha256(Buffer.concat([Buffer.from('identity'), bank.genesis.hash])))
  return {
    getHealth: rpcMethod(noParams, () => 'ok'),
    getVersion: rpcMethod(noParams, () => ({ 'solana-core': apiVersion, 'feature-set': 0 })),
    getIdentity: rpcMethod(noParams, () => ({ identity })),
    getGenesisHash: rpcMethod(noParams, () => encodeBase58(bank.genesis.hash)),
    getSlot: rpcMethod(onlyContext, (params) => contextSlot(bank, params?.[0])),
    // No slot is ever skipped here, so height and slot are one number.
    getBlockHeight: rpcMethod(onlyContext, (params) => contextSlot(bank, params?.[0])),
    getSlotLeader: rpcMethod(onlyContext, () => identity),
    getSlotLeaders: rpcMethod(z.tuple([slotParam, slotParam.max(leadersMax)]), ([, limit]) =>
      Array.from({ length: limit }, () => identity),
    ),
    getEpochInfo: rpcMethod(onlyContext, (params) => epochInfo(bank, contextSlot(bank, params?.[0]))),
    getEpochSchedule: rpcMethod(noParams, () => ({
      slotsPerEpoch: bank.slotsPerEpoch,
      leaderScheduleSlotOffset: bank.slotsPerEpoch,
      warmup: false,
      firstNormalEpoch: 0,
      firstNormalSlot: 0,
    })),
    getTransactionCount: rpcMethod(onlyContext, () => bank.history.length),
    getLatestBlockhash: rpcMethod(onlyContext, (params) => latestBlockhash(bank, contextSlot(bank, params?.[0]))),
    isBlockhashValid: rpcMethod(z.tuple([blockhashParam, contextConfig.optional()]), ([blockhash, config]) => {
      const slot = contextSlot(bank, config)
      return inContext(slot, bank.slots.slotOfBlockhash(encodeBase58(blockhash)) !== undefined)
    }),
    getRecentPrioritizationFees: rpcMethod(
      z
        .tuple([z.array(addressParam).max(addressesMax).nullish()])
        .or(z.undefined())
        .or(z.tuple([])),
      () => prioritizationFees(bank),
    ),
  }
}

/** The limits of a real node. */
const leadersMax = 5_000
const addressesMax = 128

function epochInfo(bank: Bank, slot: number) {
  return {
    absoluteSlot: slot,
    blockHeight: slot,
    epoch: Math.floor(slot / bank.slotsPerEpoch),
    slotIndex: slot % bank.slotsPerEpoch,
    slotsInEpoch: bank.slotsPerEpoch,
    transactionCount: bank.history.length,
  }
}

/** The older the commitment asked for, the older the hash and the less is left of its 150 slots; as on a real node. */
function latestBlockhash(bank: Bank, slot: number) {
  const value = { blockhash: bank.slots.blockhashOf(slot), lastValidBlockHeight: slot + blockhashWindowSlots }
  return inContext(slot, value)
}

/** Blocks are never full here, so priority fees are never needed. */
function prioritizationFees(bank: Bank) {
  const newest = bank.slots.current - slotsUntil.confirmed
  return Array.from({ length: blockhashWindowSlots }, (_, age) => ({
    slot: newest - blockhashWindowSlots + 1 + age,
    prioritizationFee: 0,
  }))
}
