import {
  type Connection,
  Keypair,
  NonceAccount,
  type PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js'
import type { LocalChain } from '@tollbook/localnet/localChain'
import { assertPresent } from '@tollbook/core/assert'

interface Scene {
  readonly chain: Pick<LocalChain, 'advanceSlots'>
  readonly connection: Connection
}

/** An account that stores a nonce, and the wallet that may advance it. */
export interface DurableNonce {
  readonly account: PublicKey
  readonly authority: Keypair
}

const rentLamports = 10_000_000

/** Opened and paid for by the wallet itself. */
export async function openNonce({ chain, connection }: Scene, authority: Keypair): Promise<DurableNonce> {
  const keypair = Keypair.generate()
  const transaction = SystemProgram.createNonceAccount({
    fromPubkey: authority.publicKey,
    noncePubkey: keypair.publicKey,
    authorizedPubkey: authority.publicKey,
    lamports: rentLamports,
  })
  transaction.recentBlockhash = (await connection.getLatestBlockhash('processed')).blockhash
  transaction.sign(authority, keypair)
  await connection.sendRawTransaction(transaction.serialize(), { preflightCommitment: 'processed' })
  chain.advanceSlots(1)
  return { account: keypair.publicKey, authority }
}

export function advanceOf({ account, authority }: DurableNonce): TransactionInstruction {
  return SystemProgram.nonceAdvance({ noncePubkey: account, authorizedPubkey: authority.publicKey })
}

/** Signed by the nonce's authority. It can land until another transaction advances the nonce, however long that takes. */
export async function signWithNonce(
  { connection }: Pick<Scene, 'connection'>,
  nonce: DurableNonce,
  instructions: readonly TransactionInstruction[],
): Promise<Transaction> {
  const state = assertPresent(await connection.getAccountInfo(nonce.account, 'processed'), 'the account was opened')
  const transaction = new Transaction().add(advanceOf(nonce), ...instructions)
  transaction.recentBlockhash = NonceAccount.fromAccountData(state.data).nonce
  transaction.sign(nonce.authority)
  return transaction
}
