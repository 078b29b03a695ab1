import { createKeyPairSignerFromBytes } from '@solana/kit'
import { Connection, Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { systemClock } from '@tollbook/core/clock'
import { readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import { signingTerms } from '../../src/signer/feePayerSigner.ts'
import { type OpenSigner, openSigner, type SignerOptions } from '../../src/signer/openSigner.ts'
import { afterFile } from './afterFile.ts'
import { askForQuote } from './ask.ts'
import { addressOf, signerKey } from './feePayerKey.ts'
import { makeScratchDirectory } from './scratchDirectory.ts'
import { openTestSignatures } from './signatureStore.ts'
import { openTestService, type TestService, type TestServiceOptions } from './testService.ts'

/** Stock x402 knows three Solana networks by name; the local chain goes by the name of devnet. */
export const devnet = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'

export interface X402Service {
  /** Offers x402 and the native rail. */
  readonly service: TestService
  /** Another instance on the same ledger and chain, with the native rail alone. */
  readonly native: TestService
  readonly feePayer: Keypair
  readonly signer: OpenSigner
  readonly signerOptions: SignerOptions
  /** Environment of an instance that offers x402. */
  readonly env: Readonly<Record<string, string>>
  readonly tokenMint: string
  readonly paymentWallet: string
}

const generous = { perDayLamports: 100_000_000n, perWalletAndDayLamports: 100_000_000n, perPaymentLamports: 20_000n }

export async function openX402Service({
  env = {},
  seams,
  sale,
  log,
  dollars,
  sellsTabs,
}: Pick<TestServiceOptions, 'env' | 'seams' | 'sale' | 'log' | 'sellsTabs'> & {
  /** Dollars in addition to the token. Called before the service that offers them starts. */
  readonly dollars?: {
    provision(native: TestService, paymentWallet: string): Promise<void>
  }
} = {}): Promise<X402Service> {
  const tabs = sellsTabs === undefined ? {} : { sellsTabs }
  const native = await openTestService(tabs)
  const { tokenMint, paymentWallet } = await askForQuote(native)
  await dollars?.provision(native, paymentWallet)
  const feePayer = Keypair.generate()
  await new Connection(native.chain.rpcUrl, 'confirmed').requestAirdrop(feePayer.publicKey, LAMPORTS_PER_SOL)
  const socketPath = `${await makeScratchDirectory()}/signer.sock`
  const signerOptions: SignerOptions = {
    clock: systemClock,
    log: silentLog,
    address: { socketPath },
    journal: await openTestSignatures(native.database),
    key: signerKey(feePayer),
    terms: signingTerms({
      mint: addressOf(tokenMint),
      paymentWallet: addressOf(paymentWallet),
      currencies: readConfig(env).currencies.accepted,
      others: sellsTabs === undefined ? [] : [addressOf(native.tabWallet.publicKey.toBase58())],
    }),
    limits: generous,
  }
  const signer = await openSigner(signerOptions)
  afterFile(() => signer.close())
  const offering = { SIGNER_SOCKET: socketPath, X402_NETWORK: devnet, ...env }
  const service = await openTestService({
    besides: native,
    env: offering,
    ...tabs,
    ...(seams === undefined ? {} : { seams }),
    ...(sale === undefined ? {} : { sale }),
    ...(log === undefined ? {} : { log }),
  })
  return { service, native, feePayer, signer, signerOptions, env: offering, tokenMint, paymentWallet }
}

/**
 * The stock client, as its documentation shows it; its spend control needs the opt-in for a token that it does not
 * know.
 */
export async function stockClient(wallet: Keypair, rpcUrl: string, asset: string): Promise<x402Client> {
  const signer = await createKeyPairSignerFromBytes(wallet.secretKey)
  return new x402Client()
    .register(devnet, new ExactSvmScheme(signer, { rpcUrl }))
    .setSpendControls({ allowedAssets: [{ network: devnet, asset, maxAmountPerPayment: '1000000000' }] })
}

export async function stockFetch(
  wallet: Keypair,
  { rpcUrl, asset, inner = globalThis.fetch }: { rpcUrl: string; asset: string; inner?: typeof fetch },
): Promise<typeof fetch> {
  return wrapFetchWithPayment(inner, await stockClient(wallet, rpcUrl, asset))
}

/** Repeats a request whose connection breaks, with the same headers: the stock client on top does not pay again. */
export async function repeatingFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  return fetch(request.clone()).catch(() => fetch(request))
}
