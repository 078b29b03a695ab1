import { z } from 'zod'
import { isBase58Of32Bytes } from '@tollbook/core/base58'
import { Fault } from '@tollbook/core/fault'
import { type LogLevel, logLevels } from './primitives/log.ts'
import { whole } from './configValues.ts'
import { type FinanceConfig, financeConfigOf, financeVariables, missingFinanceVariables } from './financeConfig.ts'
import {
  type MarketPriceConfig,
  missingProductVariables,
  type ProductConfig,
  productConfigOf,
  productVariables,
} from './productConfig.ts'
import { parseTokenPrice } from './pricing/tokenPrice.ts'

/** Everything the operator decides. The environment is read here and nowhere else; docs/operations.md has the table. */
export interface Config extends ProductConfig {
  readonly host: string
  readonly port: number
  readonly logLevel: LogLevel
  /** State of local mode; unused when database and chain are the operator's. */
  readonly home: string
  /** Undefined: the embedded Postgres of local mode. */
  readonly databaseUrl: string | undefined
  readonly migrationDatabaseUrl: string | undefined
  readonly payout: {
    /** A login of `tollbook_payout`; never the service's. */
    readonly databaseUrl: string | undefined
    readonly providerWallet: string | undefined
    readonly holdersWallet: string | undefined
    readonly treasuryWallet: string | undefined
  }
  readonly localPostgresPort: number
  /** Undefined: the local chain of local mode, and the four below with it. */
  readonly chain: ChainConfig | undefined
  readonly localChainPort: number
  readonly commitment: 'confirmed' | 'finalized'
  /** `fixed`: TOKEN_PRICE_USD. `market`: what the markets agree on; TOKEN_PRICE_USD is then not used. */
  readonly tokenPriceSource: 'fixed' | 'market'
  readonly tokenPriceAttoUsd: bigint
  readonly marketPrice: MarketPriceConfig
  /** A private Ed25519 JWK. Undefined: local mode makes one. */
  readonly receiptSigningKey: ReceiptSigningKey | undefined
  /** The name of the log in its checkpoints. Undefined: `tollbook/` and the payment wallet. */
  readonly ledgerOrigin: string | undefined
  /** Where the newest checkpoint is kept outside the database. Undefined: nowhere, or in the home of local mode. */
  readonly checkpointFile: string | undefined
  /** Whether anybody may read the events, and not only their hashes. */
  readonly entriesArePublic: boolean
  readonly quoteTtlMs: number
  readonly quoteGraceMs: number
  readonly proofMaxAgeMs: number
  readonly proofLookupWaitMs: number
  readonly claimLeaseMs: number
  /** In whole tokens: how much may be served for payments that are not final. 0: no limit. */
  readonly exposureMaxTokens: number
  readonly handlerTimeoutMs: number
  readonly trustedProxyHops: number
  readonly rateLimitPerMinute: number
  readonly metricsSubnets: readonly string[]
  /** Undefined: the reports are not served over HTTP, but for local mode, which makes tokens of its own. */
  readonly finance: FinanceConfig | undefined
}

export interface ChainConfig {
  readonly rpcUrls: readonly string[]
  readonly tokenMint: string
  readonly paymentWallet: string
}

export type ReceiptSigningKey = z.infer<typeof receiptSigningKey>

const receiptSigningKey = z.object(
  { kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), d: z.string(), kid: z.string().exactOptional() },
  { error: 'must be a private Ed25519 key as JWK, as `tollbook receipt-key` prints it' },
)

const portNumber = whole(0, 65_535, 0)
const day = 24 * 60 * 60

const databaseUrl = z
  .string()
  .refine((value) => /^postgres(ql)?:\/\//.test(value) && URL.canParse(value), 'must be a postgres:// URL')
  .optional()
const address = z.string().refine(isBase58Of32Bytes, 'must be a Solana address (base58 of 32 bytes)').optional()
const httpUrls = z
  .string()
  .transform((value) => value.split(',').map((url) => url.trim()))
  .refine(
    (urls) => urls.every((url) => /^https?:\/\//.test(url) && URL.canParse(url)),
    'must be http(s) URLs, separated by commas',
  )
  .optional()
const tokenPrice = z
  .string()
  .transform((value, context) => {
    const price = parseTokenPrice(value)
    if (price !== undefined) return price
    context.addIssue('must be a positive decimal in US dollars, such as 0.001')
    return z.NEVER
  })
  .default(10n ** 15n)
const signingKey = z
  .string()
  .transform((value, context): unknown => {
    try {
      return JSON.parse(value)
    } catch {
      // The value is a secret, so the message must not quote it.
      context.addIssue('must be JSON: a private Ed25519 key as JWK, as `tollbook receipt-key` prints it')
      return z.NEVER
    }
  })
  .pipe(receiptSigningKey)
  .optional()
// C2SP signed-note: a name stands between spaces, and before a plus.
const keyName = z
  .string()
  .regex(/^[^\p{Z}\p{C}+]{1,200}$/u, 'must be a name such as example.com/ledger, without spaces and plus')
  .optional()
const subnets = z
  .string()
  .transform((value) => value.split(',').map((subnet) => subnet.trim()))
  .refine(
    (all) => all.every((subnet) => /^[0-9a-fA-F.:]+\/\d{1,3}$/.test(subnet)),
    'must be subnets such as 10.0.0.0/8, separated by commas',
  )
  .default(['127.0.0.0/8', '::1/128'])

const environment = z
  .object({
    ...productVariables,
    ...financeVariables,
    HOST: z.string().optional(),
    PORT: whole(0, 65_535, 3_402),
    LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
    TOLLBOOK_HOME: z.string().min(1, 'must be a folder').default('.tollbook'),
    DATABASE_URL: databaseUrl,
    MIGRATION_DATABASE_URL: databaseUrl,
    PAYOUT_DATABASE_URL: databaseUrl,
    PAYOUT_PROVIDER_WALLET: address,
    PAYOUT_HOLDERS_WALLET: address,
    PAYOUT_TREASURY_WALLET: address,
    LOCAL_POSTGRES_PORT: portNumber,
    SOLANA_RPC_URLS: httpUrls,
    SOLANA_COMMITMENT: z.enum(['confirmed', 'finalized'], 'must be confirmed or finalized').default('confirmed'),
    TOKEN_MINT: address,
    PAYMENT_WALLET: address,
    LOCAL_CHAIN_PORT: portNumber,
    TOKEN_PRICE_SOURCE: z.enum(['fixed', 'market'], 'must be fixed or market').default('fixed'),
    TOKEN_PRICE_USD: tokenPrice,
    TOKEN_PRICE_TOLERANCE_PERCENT: whole(1, 50, 2),
    TOKEN_PRICE_LIQUIDITY_MIN_USD: whole(0, 1_000_000_000, 10_000),
    TOKEN_PRICE_AGE_MAX_SECONDS: whole(15, 3_600, 300),
    RECEIPT_SIGNING_KEY: signingKey,
    LEDGER_ORIGIN: keyName,
    LEDGER_ENTRIES: z.enum(['closed', 'public'], 'must be closed or public').default('closed'),
    CHECKPOINT_FILE: z.string().optional(),
    QUOTE_TTL_SECONDS: whole(10, day / 2, 300),
    QUOTE_GRACE_SECONDS: whole(0, 3_600, 60),
    PROOF_MAX_AGE_SECONDS: whole(10, day / 2, 600),
    PROOF_LOOKUP_WAIT_MS: whole(0, 20_000, 2_000),
    CLAIM_LEASE_SECONDS: whole(1, 600, 60),
    EXPOSURE_MAX_TOKENS: whole(0, 9_999_999_999, 0),
    HANDLER_TIMEOUT_MS: whole(100, 300_000, 30_000),
    TRUSTED_PROXY_HOPS: whole(0, 10, 0),
    RATE_LIMIT_PER_MINUTE: whole(0, 1_000_000, 0),
    METRICS_SUBNETS: subnets,
  })
  .superRefine((env, context) => {
    const needs = (name: string, why: string) =>
      context.addIssue({ code: 'custom', path: [name], message: `is missing: ${why}` })
    if (env.SOLANA_RPC_URLS !== undefined) {
      if (env.TOKEN_MINT === undefined)
        needs('TOKEN_MINT', 'the mint of the service token on the chain of SOLANA_RPC_URLS')
      if (env.PAYMENT_WALLET === undefined)
        needs('PAYMENT_WALLET', 'the wallet that receives payments on the chain of SOLANA_RPC_URLS')
    }
    const operated = env.SOLANA_RPC_URLS !== undefined && env.DATABASE_URL !== undefined
    if (operated && env.SAMPLE_UPSTREAMS === '1')
      context.addIssue({ code: 'custom', path: ['SAMPLE_UPSTREAMS'], message: 'is for local mode only' })
    if (operated && env.RECEIPT_SIGNING_KEY === undefined)
      needs('RECEIPT_SIGNING_KEY', 'make one with `tollbook receipt-key`')
    for (const [name, why] of [...missingProductVariables(env), ...missingFinanceVariables(env)]) needs(name, why)
    if (env.HANDLER_TIMEOUT_MS >= env.CLAIM_LEASE_SECONDS * 1000) {
      context.addIssue({
        code: 'custom',
        path: ['HANDLER_TIMEOUT_MS'],
        message: 'must be shorter than CLAIM_LEASE_SECONDS, or an attempt could be taken over while it runs',
      })
    }
  })

export { upstreamNames } from './outbound/upstreamName.ts'

/** What the environment may say; nothing else is looked at. */
export const environmentNames: readonly string[] = Object.keys(environment.shape)

/** What a command line may say instead of the environment. */
interface ConfigFlags {
  readonly sampleUpstreams?: boolean
}

/** How many threads work beside the event loop, unless the user has said so. Node looks when it needs the first one. */
export function useThreads(count: number): void {
  process.env['UV_THREADPOOL_SIZE'] ??= String(count)
}

/** Reads the environment, or throws one fault that names every mistake. No value is quoted: some of them are secrets. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
  { sampleUpstreams = false }: ConfigFlags = {},
): Config {
  const flagged = sampleUpstreams ? { ...env, SAMPLE_UPSTREAMS: '1' } : env
  // An empty variable is what a shell makes of an unset one.
  const given = Object.fromEntries(Object.entries(flagged).filter(([, value]) => value !== undefined && value !== ''))
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    const mistakes = parsed.error.issues.map((issue) => `  ${issue.path.join('.')} ${issue.message}`)
    throw new Fault(`the configuration has ${mistakes.length} mistake(s):\n${mistakes.join('\n')}`, {
      retryable: false,
    })
  }
  return configOf(parsed.data)
}

type Environment = z.infer<typeof environment>

function configOf(env: Environment): Config {
  const { SOLANA_RPC_URLS: rpcUrls, TOKEN_MINT: tokenMint, PAYMENT_WALLET: paymentWallet } = env
  const chain =
    rpcUrls !== undefined && tokenMint !== undefined && paymentWallet !== undefined
      ? { rpcUrls, tokenMint, paymentWallet }
      : undefined
  const isLocal = chain === undefined || env.DATABASE_URL === undefined
  return {
    // A local service holds keys to demonstration money and no secrets worth stealing, but it is nobody else's either.
    host: env.HOST ?? (isLocal ? '127.0.0.1' : '0.0.0.0'),
    port: env.PORT,
    logLevel: env.LOG_LEVEL,
    home: env.TOLLBOOK_HOME,
    databaseUrl: env.DATABASE_URL,
    migrationDatabaseUrl: env.MIGRATION_DATABASE_URL,
    payout: {
      databaseUrl: env.PAYOUT_DATABASE_URL,
      providerWallet: env.PAYOUT_PROVIDER_WALLET,
      holdersWallet: env.PAYOUT_HOLDERS_WALLET,
      treasuryWallet: env.PAYOUT_TREASURY_WALLET,
    },
    localPostgresPort: env.LOCAL_POSTGRES_PORT,
    chain,
    localChainPort: env.LOCAL_CHAIN_PORT,
    commitment: env.SOLANA_COMMITMENT,
    tokenPriceSource: env.TOKEN_PRICE_SOURCE,
    tokenPriceAttoUsd: env.TOKEN_PRICE_USD,
    marketPrice: {
      tolerancePercent: env.TOKEN_PRICE_TOLERANCE_PERCENT,
      liquidityMinUsd: env.TOKEN_PRICE_LIQUIDITY_MIN_USD,
      ageMaxMs: env.TOKEN_PRICE_AGE_MAX_SECONDS * 1000,
    },
    receiptSigningKey: env.RECEIPT_SIGNING_KEY,
    ledgerOrigin: env.LEDGER_ORIGIN,
    checkpointFile: env.CHECKPOINT_FILE,
    entriesArePublic: env.LEDGER_ENTRIES === 'public',
    quoteTtlMs: env.QUOTE_TTL_SECONDS * 1000,
    quoteGraceMs: env.QUOTE_GRACE_SECONDS * 1000,
    proofMaxAgeMs: env.PROOF_MAX_AGE_SECONDS * 1000,
    proofLookupWaitMs: env.PROOF_LOOKUP_WAIT_MS,
    claimLeaseMs: env.CLAIM_LEASE_SECONDS * 1000,
    exposureMaxTokens: env.EXPOSURE_MAX_TOKENS,
    handlerTimeoutMs: env.HANDLER_TIMEOUT_MS,
    trustedProxyHops: env.TRUSTED_PROXY_HOPS,
    rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
    metricsSubnets: env.METRICS_SUBNETS,
    finance: financeConfigOf(env),
    ...productConfigOf(env),
  }
}
