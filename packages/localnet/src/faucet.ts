import { ComputeBudgetProgram, Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import { sha256 } from '@tollbook/core/digest'
import { parseChainTransaction, type ChainTransaction } from './chainTransaction.ts'
import { programBytes } from './programs.ts'
import type { AccountAt } from './svm.ts'

/** Gives SOL away by ordinary transfers, so that an airdrop is found in the history like anything else. */
export interface Faucet {
  /** The account as it is at genesis. */
  readonly account: AccountAt
  airdrop(request: AirdropRequest): ChainTransaction
}

export interface AirdropRequest {
  readonly to: Uint8Array
  readonly lamports: bigint
  readonly blockhash: string
  /** Makes two equal airdrops in one slot two transactions. */
  readonly serial: number
}

/**
 * The key follows from the genesis hash and is not secret: every client that can reach the chain may use the faucet.
 */
export function createFaucet(genesisHash: Uint8Array): Faucet {
  const keypair = Keypair.fromSeed(sha256(Buffer.concat([Buffer.from('faucet'), genesisHash])))
  const state = {
    lamports: faucetLamports,
    owner: programBytes('system'),
    data: new Uint8Array(),
    executable: false,
  }
  return {
    account: { address: keypair.publicKey.toBytes(), state },
    airdrop: (request) => airdrop(keypair, request),
  }
}

function airdrop(keypair: Keypair, { to, lamports, blockhash, serial }: AirdropRequest): ChainTransaction {
  const transfer = { fromPubkey: keypair.publicKey, toPubkey: new PublicKey(to), lamports }
  const transaction = new Transaction({ feePayer: keypair.publicKey, blockhash, lastValidBlockHeight: 0 }).add(
    ComputeBudgetProgram.setComputeUnitLimit({ units: unitsNeeded + (serial % serialsMax) }),
    SystemProgram.transfer(transfer),
  )
  transaction.sign(keypair)
  return parseChainTransaction(transaction.serialize())
}

/** Nine million SOL. In lamports it stays below 2^53, so every balance on this chain is exact as a JSON number. */
const faucetLamports = 9_000_000_000_000_000n
/** 150 for each of the two instructions, and some room. */
const unitsNeeded = 1_000
const serialsMax = 1_000_000
