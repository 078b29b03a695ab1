import { z } from 'zod'
import { paymentWallet, tokenMint } from './chainConfig.ts'
import { currencies } from './currencyConfig.ts'
import { tabWallet } from './tabConfig.ts'
import { complete, filePath, postgresUrl, solanaAddress, variable, integerFrom } from './variables.ts'

export type SignerPlace =
  | { readonly socketPath: string }
  | {
      readonly host: string
      readonly port: number
      /** Paths of PEM files, under the names of their variables. */
      readonly tls: {
        readonly SIGNER_TLS_CERT: string
        readonly SIGNER_TLS_KEY: string
        readonly SIGNER_TLS_CA: string
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

// Length of `sun_path` on Linux without the final zero. A longer path fails with EINVAL, which names no length.
const socketPathBytesMax = 107
const socketPath = variable(
  'SIGNER_SOCKET',
  filePath.refine(
    (path) => Buffer.byteLength(path ?? '') <= socketPathBytesMax,
    `must be a path of at most ${socketPathBytesMax} bytes, the limit of sockets`,
  ),
)
const tls = z
  .object({
    SIGNER_TLS_CERT: variable('SIGNER_TLS_CERT', filePath),
    SIGNER_TLS_KEY: variable('SIGNER_TLS_KEY', filePath),
    SIGNER_TLS_CA: variable('SIGNER_TLS_CA', filePath),
  })
  .transform(complete)

interface PlaceVariables {
  readonly socketPath?: string | undefined
  readonly port?: z.infer<typeof hostAndPort>
  readonly tls: z.infer<typeof tls>
}

function placeOf({ socketPath: path, port, tls: files }: PlaceVariables): SignerPlace | undefined {
  if (port === undefined) return path === undefined ? undefined : { socketPath: path }
  return files === undefined ? undefined : { ...port, tls: files }
}

/** Undefined: x402 and MPP are not offered. */
export const x402Config = z
  .object({
    socketPath,
    port: variable('SIGNER_ADDRESS', hostAndPort),
    tls,
    /** CAIP-2 id of the network in offers. Undefined: the id of the chain. */
    network: variable(
      'X402_NETWORK',
      z
        .string()
        .regex(/^solana:[1-9A-HJ-NP-Za-km-z]{32}$/, 'must be solana: and the first 32 characters of a genesis hash')
        .optional(),
    ),
  })
  .transform(({ network, ...place }) => {
    const signer = placeOf(place)
    return signer && { signer, network }
  })

export type X402Config = NonNullable<z.infer<typeof x402Config>>

export const signerConfig = z
  .object({
    socketPath,
    port: variable('SIGNER_LISTEN', hostAndPort),
    tls,
    /** Database URL with a login of `tollbook_signer`. Do not use the login of the service. */
    databaseUrl: variable('SIGNER_DATABASE_URL', postgresUrl),
    keypairFile: variable('FEE_PAYER_KEYPAIR', filePath),
    tokenMint,
    currencies,
    paymentWallet,
    /** Additional wallet that may receive payments while the payment wallet changes. */
    formerWallet: variable('SIGNER_FORMER_WALLET', solanaAddress),
    tabWallet,
    limits: z.object({
      perDayLamports: variable('SIGNER_LAMPORTS_PER_DAY', integerFrom(1, lamportsMax, 100_000_000).transform(BigInt)),
      perWalletAndDayLamports: variable(
        'SIGNER_LAMPORTS_PER_WALLET_AND_DAY',
        integerFrom(1, lamportsMax, 5_000_000).transform(BigInt),
      ),
    }),
  })
  .transform(({ socketPath: path, port, tls: files, ...config }) => ({
    ...config,
    place: placeOf({ socketPath: path, port, tls: files }),
  }))
