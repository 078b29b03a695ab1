import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import type { Address } from '@tollbook/core/address'
import type { Balance, BroadcastOptions, ChainReader } from '../payment/chainReader.ts'
import type { SignedTransaction } from '../payment/proof.ts'
import type { Commitment } from './commitment.ts'
import { RpcRefusal } from './nodeClient.ts'
import { proveExpiry } from './proveAbsence.ts'
import { readPlainEffects } from './plainEffects.ts'
import { rehearse } from './rehearsal.ts'
import { createRpcClient, type RotationDeps } from './rpcClient.ts'
import { readTokenBalance } from './tokenBalance.ts'
import { readTransaction } from './transactionBytes.ts'
import { createLookup } from './transactionLookup.ts'

export interface SolanaReaderDeps extends RotationDeps {
  readonly mint: Address
  readonly commitment: Commitment
  readonly clock: Clock
}

export function createSolanaChainReader(deps: SolanaReaderDeps): ChainReader {
  const { nodes } = deps
  return {
    find: createLookup(deps),
    proveExpiry: (bound) => proveExpiry(deps, bound),
    readBalance: createBalanceReader(deps),
    readTransaction,
    readEffects: ({ bytes }) => readPlainEffects(bytes),
    simulate: (transaction, options) => rehearse(deps, { bytes: transaction.bytes, ...options }),
    broadcast: (transaction, options) => broadcast(deps, { bytes: transaction.bytes, ...options }),
    landingBound: () => nodes.landingBound(),
    timeMs: () => nodes.time.timeMs(),
  }
}

// Lifetime of a cached balance, so that simultaneous proofs of one wallet share one call.
const balanceForMs = 1_000
// Lifetime of a sufficient balance in the cache. If a wallet had enough within this time, its unknown signature is
// reported as not found, and is not refused for its balance.
const enoughForMs = 30_000
const balancesMax = 2_000

function createBalanceReader(deps: SolanaReaderDeps): ChainReader['readBalance'] {
  const perf = { now: () => deps.clock.monotonicMs() }
  const recent = new LRUCache<string, Promise<Balance>>({ max: balancesMax, ttl: balanceForMs, ttlResolution: 0, perf })
  const enough = new LRUCache<string, Balance>({ max: balancesMax, ttl: enoughForMs, ttlResolution: 0, perf })
  return (question) => {
    const { wallet, mint = deps.mint, minSlot, commitment, isFresh = false, enoughBaseUnits = 0n } = question
    const account = `${mint} ${wallet}`
    const isOfAnyState = minSlot === undefined && commitment === undefined
    const rich = isOfAnyState && !isFresh ? enough.get(account) : undefined
    if (rich !== undefined && rich.baseUnits >= enoughBaseUnits) return Promise.resolve(rich)
    const key = JSON.stringify([account, minSlot, commitment, enoughBaseUnits.toString()])
    const known = isFresh ? undefined : recent.get(key)
    if (known !== undefined) return known
    const asked = readTokenBalance(deps, { ...question, mint })
    recent.set(key, asked)
    asked.then(
      (balance) => {
        if (isOfAnyState && balance.baseUnits >= enoughBaseUnits) enough.set(account, balance)
      },
      () => recent.delete(key),
    )
    return asked
  }
}

type Broadcast = Pick<SignedTransaction, 'bytes'> & BroadcastOptions

/** Sends to the first node that answers. If that node does not forward the transaction, a later call sends it again. */
async function broadcast(deps: RotationDeps, { bytes, rehearses }: Broadcast): Promise<void> {
  const encoded = Buffer.from(bytes).toString('base64')
  // Skip preflight unless the node should rehearse the transaction. A refusal is ignored, because the chain shows
  // whether the transaction landed.
  const preflight = rehearses === true ? { preflightCommitment: 'confirmed' } : { skipPreflight: true }
  const params = [encoded, { encoding: 'base64', ...preflight }]
  try {
    await createRpcClient(deps).call('sendTransaction', params, z.string())
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error
  }
}
