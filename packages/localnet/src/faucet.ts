import { ComputeBudgetProgram, Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import { sha256 } from '@tollbook/core/digest'
import { parseChainTransaction, type ChainTransaction } from './chainTransaction.ts'
import { programBytes } from './programs.ts'
import type { AccountAt } from './svm.ts'

/** Airdrops are ordinary transfers, so that they are part of the history. */
export interface Faucet {
  /** Account of the faucet at genesis. */
  readonly account: AccountAt
  airdrop(request: AirdropRequest): ChainTransaction
}

export interface AirdropRequest {
  readonly to: Uint8Array
  readonly lamports: bigint
  readonly blockhash: string
  /** Number that distinguishes equal airdrops in one slot. Without it, they would be the same transaction. */
  readonly serial: number
}

/** The faucet's key is derived from the genesis hash and is public, so every client may use it. */
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

/** Nine million SOL in lamports. This is less than 2^53, so every balance on this chain is exact as a JSON number. */
const faucetLamports = 9_000_000_000_000_000n
/** Compute units of an airdrop: 150 for each of its two instructions, and a reserve. */
const unitsNeeded = 1_000
const serialsMax = 1_000_000
