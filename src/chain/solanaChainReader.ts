import { VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import type { Address } from '@tollbook/core/address'
import type { ChainReader } from '../payment/chainReader.ts'
import type { SignedTransaction, Simulation } from '../payment/proof.ts'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionRecord } from '../payment/transactionRecord.ts'
import { RpcRefusal, type RpcClient } from './rpcClient.ts'
import { readSimulation, simulationJson } from './simulation.ts'
import { readTransaction } from './transactionBytes.ts'
import { transactionJson } from './transactionJson.ts'
import { recordOf } from './transactionRecordOf.ts'

export type Commitment = 'confirmed' | 'finalized'

export interface SolanaReaderDeps {
  readonly rpc: RpcClient
  readonly mint: Address
  readonly commitment: Commitment
}

// 1 lets a node answer with the transaction format that is live since September 2026; with 0 it would refuse (-32015).
const maxSupportedTransactionVersion = 1

export function createSolanaChainReader(deps: SolanaReaderDeps): ChainReader {
  const underWay = new Map<Signature, Promise<TransactionRecord | undefined>>()
  return {
    // Several requests with one proof at the same moment cost one call.
    findTransaction(signature) {
      const running =
        underWay.get(signature) ?? findTransaction(deps, signature).finally(() => underWay.delete(signature))
      underWay.set(signature, running)
      return running
    },
    balanceBaseUnits: (wallet) => balanceBaseUnits(deps, wallet),
    readTransaction,
    simulate: (transaction) => simulate(deps, transaction),
    broadcast: (transaction) => broadcast(deps, transaction),
    canStillLand: (transaction) => canStillLand(deps, transaction),
    slot: () => deps.rpc.call('getSlot', [{ commitment: deps.commitment }], z.int()),
  }
}

export async function findTransaction(
  { rpc, commitment }: Pick<SolanaReaderDeps, 'rpc' | 'commitment'>,
  signature: Signature,
): Promise<TransactionRecord | undefined> {
  const options = { encoding: 'json', commitment, maxSupportedTransactionVersion }
  // Made a record within the call, so that a node whose answer contradicts itself is passed over for the next one.
  const answer = transactionJson
    .nullable()
    .transform((found) => (found === null ? undefined : recordOf(found, signature)))
  return refusalIsFault(rpc.call('getTransaction', [signature, options], answer))
}

/** A node that refuses a question has not said that there is no payment. */
export async function refusalIsFault<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error
    throw new Fault(`the node refused (${error.code}): ${error.message}`, { cause: error, retryable: true })
  }
}

// Offset of the amount in a token account: after mint and owner.
const amountSlice = { offset: 64, length: 8 }
// A node that overlooks the slice would have us read the mint's address as an amount.
const amountBase64 = z.base64().length(12)
const tokenAccountsJson = z.object({
  value: z.array(z.object({ account: z.object({ data: z.tuple([amountBase64, z.literal('base64')]) }) })),
})

async function balanceBaseUnits({ rpc, mint, commitment }: SolanaReaderDeps, wallet: Address): Promise<bigint> {
  const options = { encoding: 'base64', commitment, dataSlice: amountSlice }
  const accounts = await refusalIsFault(
    rpc.call('getTokenAccountsByOwner', [wallet, { mint }, options], tokenAccountsJson),
  )
  return accounts.value.reduce((sum, { account }) => sum + Buffer.from(account.data[0], 'base64').readBigUInt64LE(), 0n)
}

async function simulate({ rpc, commitment }: SolanaReaderDeps, transaction: SignedTransaction): Promise<Simulation> {
  const encoded = Buffer.from(transaction.bytes).toString('base64')
  const options = {
    encoding: 'base64',
    commitment,
    sigVerify: true,
    replaceRecentBlockhash: false,
    innerInstructions: true,
  }
  const { message } = VersionedTransaction.deserialize(transaction.bytes)
  const answer = simulationJson.transform(({ value }) => readSimulation(value, message))
  return refusalIsFault(rpc.call('simulateTransaction', [encoded, options], answer))
}

async function broadcast({ rpc }: SolanaReaderDeps, transaction: SignedTransaction): Promise<void> {
  const encoded = Buffer.from(transaction.bytes).toString('base64')
  // Already simulated, so without preflight. A node's answer to a second send of the same bytes does not matter: the
  // chain
  // decides whether it landed.
  try {
    await rpc.call('sendTransaction', [encoded, { encoding: 'base64', skipPreflight: true }], z.string())
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error
  }
}

async function canStillLand({ rpc, commitment }: SolanaReaderDeps, { blockhash }: SignedTransaction): Promise<boolean> {
  const { value } = await refusalIsFault(
    rpc.call('isBlockhashValid', [blockhash, { commitment }], z.object({ value: z.boolean() })),
  )
  return value
}
