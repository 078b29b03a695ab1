import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import {
  type FinalityReader,
  type ListedSignature,
  listedMax,
  type ListQuestion,
  type SignatureStatus,
  type StatusAnswer,
  type StatusQuestion,
} from '../payment/finalityReader.ts'
import { readSignature } from '@tollbook/core/signature'
import { findReversal } from './findReversal.ts'
import { createRpcClient, refusalIsFault, type RotationDeps } from './rpcClient.ts'
import { readStatuses } from './signatureStatuses.ts'
import { readAny } from './transactionLookup.ts'

export function createSolanaFinalityReader(deps: RotationDeps): FinalityReader {
  const rpc = createRpcClient(deps)
  return {
    findStatuses: (question) => findStatuses(deps, question),
    finalizedSlot: () => refusalIsFault(rpc.call('getSlot', [{ commitment: 'finalized' }], z.int())),
    findReversal: (question) => findReversal(deps, question),
    findFinalized: (signature) => readAny(deps, { signature, commitment: 'finalized' }),
    listSignatures: (question) => listSignatures(deps, question),
  }
}

/**
 * Finds the statuses of signatures. Each node is queried for the signatures that the previous nodes did not have. A
 * missing status proves nothing, because a node may lag. `findReversal` proves an absence.
 */
async function findStatuses(deps: RotationDeps, { signatures, searchHistory }: StatusQuestion): Promise<StatusAnswer> {
  const found = new Map<string, SignatureStatus>()
  let lastError: unknown
  let answers = 0
  for (const node of deps.nodes.candidates()) {
    const missing = signatures.filter((signature) => !found.has(signature))
    if (missing.length === 0) break
    try {
      const { statuses } = await readStatuses(deps, node, { signatures: missing, searchHistory })
      answers += 1
      for (const [index, signature] of missing.entries()) {
        const status = statuses[index]
        if (status === undefined) continue
        const { slot, commitment, hasFailed } = status
        found.set(signature, { slot, isFinalized: commitment === 'finalized', hasFailed })
      }
    } catch (error) {
      lastError = error
    }
  }
  if (answers === 0)
    throw new Fault('no Solana node answered getSignatureStatuses usably', { cause: lastError, retryable: true })
  return { statuses: signatures.map((signature) => found.get(signature)) }
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
  deps: RotationDeps,
  { account, commitment, before, until }: ListQuestion,
): Promise<readonly ListedSignature[]> {
  const options = { limit: listedMax, commitment, before, until }
  const listed = await refusalIsFault(
    createRpcClient(deps).call('getSignaturesForAddress', [account, options], z.array(listedJson).max(listedMax)),
  )
  return listed.map(({ signature, slot, err, memo, blockTime }): ListedSignature => {
    const blockTimeMs = blockTime === undefined || blockTime === null ? undefined : blockTime * 1000
    return { signature, slot, blockTimeMs, hasFailed: err !== null && err !== undefined, memo: memo ?? undefined }
  })
}
