import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createApproveInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token'
import {
  type Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  sendAndConfirmTransaction,
  Transaction,
} from '@solana/web3.js'
import { randomToken } from '@tollbook/core/id'
import { withAdminSession } from '../../support/adminSession.ts'
import type { ProofEnvironment } from '../proofEnvironment.ts'
import type { BurnDeath } from './burnDeath.ts'

/**
 * An approved delegate and a login of the burner, as docs/burn.md has an operator make them. Returns the job's
 * settings.
 */
export async function openDelegate(
  { env, database, directory, paymentWallet }: ProofEnvironment,
  connection: Connection,
): Promise<NodeJS.ProcessEnv> {
  const delegate = Keypair.generate()
  await Promise.all([delegate, paymentWallet].map((wallet) => airdrop(connection, wallet)))
  const account = getAssociatedTokenAddressSync(new PublicKey(env['TOKEN_MINT'] ?? ''), paymentWallet.publicKey)
  const approval = createApproveInstruction(account, delegate.publicKey, paymentWallet.publicKey, 10n ** 15n)
  await sendAndConfirmTransaction(connection, new Transaction().add(approval), [paymentWallet])
  const keypairFile = `${directory}/burn-delegate.json`
  await writeFile(keypairFile, JSON.stringify([...delegate.secretKey]))
  const password = randomToken()
  await withAdminSession(database.adminUrl, (admin) =>
    admin.query(`create role proof_burner login password '${password}' in role tollbook_burner`),
  )
  const url = new URL(database.adminUrl)
  url.username = 'proof_burner'
  url.password = password
  const { SOLANA_RPC_URLS, TOKEN_MINT, PAYMENT_WALLET } = env
  return { SOLANA_RPC_URLS, TOKEN_MINT, PAYMENT_WALLET, BURN_DATABASE_URL: url.href, BURN_KEYPAIR: keypairFile }
}

export async function airdrop(connection: Connection, { publicKey }: Keypair): Promise<void> {
  const signature = await connection.requestAirdrop(publicKey, LAMPORTS_PER_SOL)
  await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) })
}

const burnProcess = fileURLToPath(new URL('burnProcess.ts', import.meta.url))

/** Resolves with the signal that ended the job, and what it printed. */
export async function runBurnJob(
  env: NodeJS.ProcessEnv,
  death?: BurnDeath,
): Promise<{ readonly signal: string | null; readonly said: string }> {
  const child = spawn(process.execPath, [burnProcess, ...(death === undefined ? [] : [death])], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: string[] = []
  child.stdout.on('data', (chunk) => said.push(String(chunk)))
  await once(child, 'exit')
  return { signal: child.signalCode, said: said.join('').trim() }
}
