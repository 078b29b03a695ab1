import { ComputeBudgetProgram, Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import { sha256 } from '@tollbook/core/digest'
import { parseChainTransaction, type ChainTransaction } from './chainTransaction.ts'
import { programBytes } from './programs.ts'
import type { AccountAt } from './svm.ts'

/** Pays out SOL by ordinary transfers, so that the history also contains airdrops. */
export interface Faucet {
  /** The account of the faucet at genesis. */
  readonly account: AccountAt
  airdrop(request: AirdropRequest): ChainTransaction
}

export interface AirdropRequest {
  readonly to: Uint8Array
  readonly lamports: bigint
  readonly blockhash: string
  /** Distinguishes two equal airdrops in one slot, which would otherwise be one transaction. */
  readonly serial: number
}

/** Creates the faucet. Its key is derived from the genesis hash and is not secret: every client of the chain may use it. */
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

/** Nine million SOL. This is less than 2^53 lamports, so every balance on this chain is exact as a JSON number. */
const faucetLamports = 9_000_000_000_000_000n
/** 150 units for each of the two instructions, plus a reserve. */
const unitsNeeded = 1_000
const serialsMax = 1_000_000
