import { Connection, Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js'
import pg from 'pg'
import { systemClock } from '@tollbook/core/clock'
import { randomToken } from '@tollbook/core/id'
import { silentLog } from '../../src/machine/log.ts'
import { signingTerms } from '../../src/signer/feePayerSigner.ts'
import { openSigner } from '../../src/signer/openSigner.ts'
import { openSignatureStore } from '../../src/store/signatureStore.ts'
import { addressOf, signerKey } from '../support/feePayerKey.ts'
import type { ProofEnvironment } from './proofEnvironment.ts'

export interface ProofSigner extends AsyncDisposable {
  readonly feePayer: Keypair
  /** Environment of a service that sells by x402 and MPP. */
  readonly env: Readonly<Record<string, string>>
}

const limits = { perDayLamports: 10n ** 9n, perWalletAndDayLamports: 10n ** 9n, perPaymentLamports: 20_000n }

/** A funded fee payer and its signer, with its own login and its journal in the ledger's database. */
export async function openProofSigner(
  { chain, database, directory, env, tabWallet }: ProofEnvironment,
  dollars: readonly string[] = [],
): Promise<ProofSigner> {
  await using opened = new AsyncDisposableStack()
  const feePayer = Keypair.generate()
  await new Connection(chain.rpcUrl, 'confirmed').requestAirdrop(feePayer.publicKey, LAMPORTS_PER_SOL)
  const databaseUrl = await makeSignerLogin(database.adminUrl)
  const journal = await openSignatureStore({ databaseUrl, log: silentLog })
  opened.defer(() => journal.close())
  const socketPath = `${directory}/signer.sock`
  const terms = signingTerms({
    mint: addressOf(env['TOKEN_MINT'] ?? ''),
    paymentWallet: addressOf(env['PAYMENT_WALLET'] ?? ''),
    currencies: dollars.map((mint) => ({ symbol: 'USDC', mint: addressOf(mint) })),
    others: [addressOf(tabWallet.publicKey.toBase58())],
  })
  const base = { clock: systemClock, log: silentLog, address: { socketPath }, journal, limits, terms }
  const signer = await openSigner({ ...base, key: signerKey(feePayer) })
  opened.defer(() => signer.close())
  const stack = opened.move()
  return {
    feePayer,
    env: { SIGNER_SOCKET: socketPath, X402_NETWORK: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function makeSignerLogin(adminUrl: string): Promise<string> {
  const password = randomToken()
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  await admin.query(`create role proof_signer login password '${password}' in role tollbook_signer`)
  await admin.end()
  const url = new URL(adminUrl)
  url.username = 'proof_signer'
  url.password = password
  return url.href
}
