import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import { Connection, Keypair, PublicKey, sendAndConfirmTransaction, SystemProgram, Transaction } from '@solana/web3.js'
import { assertPresent } from '@tollbook/core/assert'
import { createPayer, type Payer } from '../../support/payer.ts'
import type { ProofEnvironment } from '../proofEnvironment.ts'

const lamportsEach = 50_000_000
const baseUnitsEach = 1_000_000_000n
const decimals = 6

/** New wallets with SOL and tokens of the demo wallet. */
export async function fundPayers(environment: ProofEnvironment, count: number): Promise<readonly Payer[]> {
  const { chain, demoWallet, env } = environment
  const { rpcUrl, wsUrl } = chain
  const connection = new Connection(rpcUrl, { commitment: 'confirmed', wsEndpoint: wsUrl })
  const mint = new PublicKey(assertPresent(env['TOKEN_MINT'], 'the environment names the token'))
  const from = demoWallet.publicKey
  const accountOf = (owner: PublicKey) => getAssociatedTokenAddressSync(mint, owner)
  const wallets = Array.from({ length: count }, () => Keypair.generate())
  for (const { publicKey: owner } of wallets) {
    const transaction = new Transaction().add(
      SystemProgram.transfer({ fromPubkey: from, toPubkey: owner, lamports: lamportsEach }),
      createAssociatedTokenAccountIdempotentInstruction(from, accountOf(owner), owner, mint),
      createTransferCheckedInstruction(accountOf(from), mint, accountOf(owner), from, baseUnitsEach, decimals),
    )
    await sendAndConfirmTransaction(connection, transaction, [demoWallet])
  }
  return wallets.map((wallet) => createPayer({ rpcUrl, wallet }))
}
