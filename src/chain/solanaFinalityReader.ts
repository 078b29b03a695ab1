import { z } from 'zod'
import {
  type FinalityReader,
  type ListedSignature,
  listedMax,
  type ListQuestion,
  type StatusAnswer,
  type StatusQuestion,
} from '../payment/finalityReader.ts'
import { readSignature } from '@tollbook/core/signature'
import type { RpcClient } from './rpcClient.ts'
import { findTransaction, refusalIsFault } from './solanaChainReader.ts'

export function createSolanaFinalityReader(rpc: RpcClient): FinalityReader {
  return {
    findStatuses: (question) => findStatuses(rpc, question),
    firstSlot: () => refusalIsFault(rpc.call('getFirstAvailableBlock', [], z.int())),
    finalizedSlot: () => refusalIsFault(rpc.call('getSlot', [{ commitment: 'finalized' }], z.int())),
    findFinalized: (signature) => findTransaction({ rpc, commitment: 'finalized' }, signature),
    listSignatures: (question) => listSignatures(rpc, question),
  }
}

const statusJson = z.object({ slot: z.int(), err: z.unknown(), confirmationStatus: z.string().nullish() })
const statusesJson = z.object({ context: z.object({ slot: z.int() }), value: z.array(statusJson.nullable()) })

async function findStatuses(rpc: RpcClient, { signatures, searchHistory }: StatusQuestion): Promise<StatusAnswer> {
  const answer = statusesJson.refine(({ value }) => value.length === signatures.length, 'must answer each signature')
  const options = { searchTransactionHistory: searchHistory }
  const { context, value } = await refusalIsFault(rpc.call('getSignatureStatuses', [signatures, options], answer))
  const statuses = value.map((status) => {
    if (status === null) return undefined
    const { slot, err, confirmationStatus } = status
    return { slot, isFinalized: confirmationStatus === 'finalized', hasFailed: err !== null && err !== undefined }
  })
  return { slot: context.slot, statuses }
}

const listedJson = z.object({
  signature: z.string().transform((text, context) => {
    const signature = readSignature(text)
    if (signature !== undefined) return signature
    context.addIssue('not a signature')
    return z.NEVER
  }),
  slot: z.int(),
  err: z.unknown(),
  memo: z.string().nullish(),
  blockTime: z.int().nullish(),
})

async function listSignatures(
  rpc: RpcClient,
  { account, commitment, before, until }: ListQuestion,
): Promise<readonly ListedSignature[]> {
  const options = { limit: listedMax, commitment, before, until }
  const listed = await refusalIsFault(
    rpc.call('getSignaturesForAddress', [account, options], z.array(listedJson).max(listedMax)),
  )
  return listed.map(({ signature, slot, err, memo, blockTime }): ListedSignature => {
    const blockTimeMs = blockTime === undefined || blockTime === null ? undefined : blockTime * 1000
    return { signature, slot, blockTimeMs, hasFailed: err !== null && err !== undefined, memo: memo ?? undefined }
  })
}
