import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import { Connection, Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { createPayer, type Payer } from '../../support/payer.ts'
import type { ProofEnvironment } from '../proofEnvironment.ts'

const lamportsEach = 50_000_000
// Four fifths of what the demo wallet has; the honest caller pays with the rest.
const baseUnitsInAll = 80_000_000_000n
const decimals = 6
// A blockhash of the proof's quick chain is valid for 6 s, in which a busy machine signs fewer than a hundred
// transactions.
const batchSize = 10

/** Payers with new wallets. */
export async function fundPayers(environment: ProofEnvironment, count: number): Promise<readonly Payer[]> {
  const { rpcUrl } = environment.chain
  return (await fundWallets(environment, count)).map((wallet) => createPayer({ rpcUrl, wallet }))
}

/** New wallets with SOL and tokens of the demo wallet. */
export async function fundWallets(environment: ProofEnvironment, count: number): Promise<readonly Keypair[]> {
  const { chain, demoWallet, env } = environment
  const { rpcUrl } = chain
  const connection = new Connection(rpcUrl, 'confirmed')
  const mint = new PublicKey(assertPresent(env['TOKEN_MINT'], 'the environment names the token'))
  const from = demoWallet.publicKey
  const accountOf = (owner: PublicKey) => getAssociatedTokenAddressSync(mint, owner)
  const wallets = Array.from({ length: count }, () => Keypair.generate())
  const baseUnitsEach = baseUnitsInAll / BigInt(Math.max(count, 1))
  const fund = async (some: readonly Keypair[]): Promise<readonly string[]> => {
    const { blockhash } = await connection.getLatestBlockhash()
    const sent = some.map(({ publicKey: owner }) => {
      const transaction = new Transaction({ feePayer: from, recentBlockhash: blockhash }).add(
        SystemProgram.transfer({ fromPubkey: from, toPubkey: owner, lamports: lamportsEach }),
        createAssociatedTokenAccountIdempotentInstruction(from, accountOf(owner), owner, mint),
        createTransferCheckedInstruction(accountOf(from), mint, accountOf(owner), from, baseUnitsEach, decimals),
      )
      transaction.sign(demoWallet)
      return connection.sendRawTransaction(transaction.serialize())
    })
    return Promise.all(sent)
  }
  const signatures: string[] = []
  for (let first = 0; first < count; first += batchSize)
    signatures.push(...(await fund(wallets.slice(first, first + batchSize))))
  for (let turn = 1; !(await areConfirmed(connection, signatures)); turn++) {
    assert(turn < turnsMax, 'the wallets are funded within half a minute')
    await systemClock.sleep(pauseMs)
  }
  return wallets
}

const pauseMs = 100
const turnsMax = 300

async function areConfirmed(connection: Connection, signatures: readonly string[]): Promise<boolean> {
  const { value } = await connection.getSignatureStatuses([...signatures])
  return value.every(
    (status) => status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized',
  )
}
