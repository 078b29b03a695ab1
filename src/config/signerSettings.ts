import { z } from 'zod'
import type { chainVariables } from './chainSettings.ts'
import {
  filePath,
  type GivenVariables,
  missingBeside,
  type MissingVariable,
  postgresUrl,
  solanaAddress,
  wholeNumber,
} from './variables.ts'

/** Place of the signer: a Unix socket of this machine, or a port with mutual TLS. */
export type SignerPlace =
  | { readonly socketPath: string }
  | {
      readonly host: string
      readonly port: number
      /** Paths of PEM files, by the names of their settings. */
      readonly tls: {
        readonly SIGNER_TLS_CERT: string
        readonly SIGNER_TLS_KEY: string
        readonly SIGNER_TLS_CA: string
      }
    }

/** Payments by x402: the service reaches the signer, and the signer keeps its budgets. */
export interface X402Settings {
  readonly signer: SignerPlace
  /** CAIP-2 id in the offers. Undefined: that of the chain. */
  readonly network: string | undefined
}

/** For `tollbook signer` only; the service reads none of it. */
export interface SignerSettings {
  /** Undefined: neither SIGNER_SOCKET nor SIGNER_LISTEN is set. */
  readonly place: SignerPlace | undefined
  /** A login of `tollbook_signer`, never the service's. */
  readonly databaseUrl: string | undefined
  readonly keypairFile: string | undefined
  readonly tokenMint: string | undefined
  readonly paymentWallet: string | undefined
  /** Also paid, while the payment wallet changes. */
  readonly formerWallet: string | undefined
  readonly limits: {
    readonly perDay: number
    readonly perWalletAndDay: number
    readonly perPayment: number
  }
}

const lamportsMax = 9_999_999_999
const expectedPlace = 'must be HOST:PORT, such as signer.internal:8443'
const hostAndPort = z
  .string()
  .regex(/^[^/?#@\s]+:\d{1,5}$/, expectedPlace)
  .refine((text) => URL.canParse(`signer://${text}`), expectedPlace)
  .transform((text) => {
    const { hostname, port } = new URL(`signer://${text}`)
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
  })
  .optional()

export const signerVariables = {
  SIGNER_SOCKET: filePath,
  SIGNER_ADDRESS: hostAndPort,
  SIGNER_LISTEN: hostAndPort,
  SIGNER_TLS_CERT: filePath,
  SIGNER_TLS_KEY: filePath,
  SIGNER_TLS_CA: filePath,
  SIGNER_DATABASE_URL: postgresUrl,
  X402_NETWORK: z
    .string()
    .regex(/^solana:[1-9A-HJ-NP-Za-km-z]{32}$/, 'must be solana: and the first 32 characters of a genesis hash')
    .optional(),
  FEE_PAYER_KEYPAIR: filePath,
  SIGNER_FORMER_WALLET: solanaAddress,
  SIGNER_LAMPORTS_PER_DAY: wholeNumber(1, lamportsMax, 100_000_000),
  SIGNER_LAMPORTS_PER_WALLET_AND_DAY: wholeNumber(1, lamportsMax, 5_000_000),
  SIGNER_LAMPORTS_PER_PAYMENT: wholeNumber(1, lamportsMax, 20_000),
}

type SignerEnvironment = z.infer<z.ZodObject<typeof signerVariables & typeof chainVariables>>

/** Undefined: nothing is offered by x402. */
export function x402SettingsOf(env: SignerEnvironment): X402Settings | undefined {
  const { SIGNER_ADDRESS: remote, X402_NETWORK: network } = env
  const signer = placeOf(env, remote)
  return signer === undefined ? undefined : { signer, network }
}

export function signerSettingsOf(env: SignerEnvironment): SignerSettings {
  return {
    place: placeOf(env, env.SIGNER_LISTEN),
    databaseUrl: env.SIGNER_DATABASE_URL,
    keypairFile: env.FEE_PAYER_KEYPAIR,
    tokenMint: env.TOKEN_MINT,
    paymentWallet: env.PAYMENT_WALLET,
    formerWallet: env.SIGNER_FORMER_WALLET,
    limits: {
      perDay: env.SIGNER_LAMPORTS_PER_DAY,
      perWalletAndDay: env.SIGNER_LAMPORTS_PER_WALLET_AND_DAY,
      perPayment: env.SIGNER_LAMPORTS_PER_PAYMENT,
    },
  }
}

type HostAndPort = NonNullable<SignerEnvironment['SIGNER_ADDRESS']>

function placeOf(env: SignerEnvironment, at: HostAndPort | undefined): SignerPlace | undefined {
  const { SIGNER_SOCKET: socketPath, SIGNER_TLS_CERT, SIGNER_TLS_KEY, SIGNER_TLS_CA } = env
  if (at === undefined) return socketPath === undefined ? undefined : { socketPath }
  if (SIGNER_TLS_CERT === undefined || SIGNER_TLS_KEY === undefined || SIGNER_TLS_CA === undefined) return undefined
  return { ...at, tls: { SIGNER_TLS_CERT, SIGNER_TLS_KEY, SIGNER_TLS_CA } }
}

const why = 'the signer is reached over mutual TLS'
const tlsFiles: readonly MissingVariable[] = [
  ['SIGNER_TLS_CERT', why],
  ['SIGNER_TLS_KEY', why],
  ['SIGNER_TLS_CA', why],
]

/** A signer is reached in one way. */
export function signerConflicts(given: GivenVariables): readonly string[] {
  const isTwice = (name: string) => given['SIGNER_SOCKET'] !== undefined && given[name] !== undefined
  return ['SIGNER_ADDRESS', 'SIGNER_LISTEN']
    .filter(isTwice)
    .map((name) => `SIGNER_SOCKET and ${name} are both set: remove one of them`)
}

/** TLS files that a port of the signer needs. */
export function missingSignerVariables(given: GivenVariables): readonly MissingVariable[] {
  const name = given['SIGNER_ADDRESS'] === undefined ? 'SIGNER_LISTEN' : 'SIGNER_ADDRESS'
  return missingBeside(given, name, tlsFiles)
}
