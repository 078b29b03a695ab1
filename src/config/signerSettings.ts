import { z } from 'zod'
import type { chainVariables } from './chainSettings.ts'
import { filePath, wholeNumber } from './variables.ts'

/** Payments by x402: the service reaches the signer, and the signer keeps its budgets. */
export interface X402Settings {
  /** Unix socket of the signer. */
  readonly signerSocket: string
  /** CAIP-2 id in the offers. Undefined: that of the chain. */
  readonly network: string | undefined
}

/** For `tollbook signer` only; the service reads none of it. */
export interface SignerSettings {
  readonly socketPath: string | undefined
  readonly keypairFile: string | undefined
  readonly journalFile: string | undefined
  readonly tokenMint: string | undefined
  readonly paymentWallet: string | undefined
  readonly limits: {
    readonly perDay: number
    readonly perWalletAndDay: number
    readonly perPayment: number
  }
}

const lamportsMax = 9_999_999_999

export const signerVariables = {
  SIGNER_SOCKET: filePath,
  X402_NETWORK: z
    .string()
    .regex(/^solana:[1-9A-HJ-NP-Za-km-z]{32}$/, 'must be solana: and the first 32 characters of a genesis hash')
    .optional(),
  FEE_PAYER_KEYPAIR: filePath,
  SIGNER_JOURNAL: filePath,
  SIGNER_LAMPORTS_PER_DAY: wholeNumber(1, lamportsMax, 100_000_000),
  SIGNER_LAMPORTS_PER_WALLET_AND_DAY: wholeNumber(1, lamportsMax, 5_000_000),
  SIGNER_LAMPORTS_PER_PAYMENT: wholeNumber(1, lamportsMax, 20_000),
}

type SignerEnvironment = z.infer<z.ZodObject<typeof signerVariables & typeof chainVariables>>

/** Undefined: nothing is offered by x402. */
export function x402SettingsOf(env: SignerEnvironment): X402Settings | undefined {
  const { SIGNER_SOCKET: signerSocket, X402_NETWORK: network } = env
  return signerSocket === undefined ? undefined : { signerSocket, network }
}

export function signerSettingsOf(env: SignerEnvironment): SignerSettings {
  return {
    socketPath: env.SIGNER_SOCKET,
    keypairFile: env.FEE_PAYER_KEYPAIR,
    journalFile: env.SIGNER_JOURNAL,
    tokenMint: env.TOKEN_MINT,
    paymentWallet: env.PAYMENT_WALLET,
    limits: {
      perDay: env.SIGNER_LAMPORTS_PER_DAY,
      perWalletAndDay: env.SIGNER_LAMPORTS_PER_WALLET_AND_DAY,
      perPayment: env.SIGNER_LAMPORTS_PER_PAYMENT,
    },
  }
}
