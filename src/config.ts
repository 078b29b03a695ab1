import { z } from 'zod'
import { catalogConfig } from './config/catalogConfig.ts'
import { chainConfig, localConfig } from './config/chainConfig.ts'
import { burnConfig, payoutConfig } from './config/commandConfig.ts'
import { currencyConfig } from './config/currencyConfig.ts'
import { inputOf, leavesOf, variableAt } from './config/configSchema.ts'
import { findConflicts } from './config/conflicts.ts'
import { deliveryConfig } from './config/deliveryConfig.ts'
import { financeConfig, refundConfig } from './config/financeConfig.ts'
import { ledgerConfig } from './config/ledgerConfig.ts'
import { findMistyped, type MistypedVariable } from './config/mistypedVariables.ts'
import { priceConfig } from './config/priceConfig.ts'
import { providerConfig } from './config/providerConfig.ts'
import { saleConfig } from './config/saleConfig.ts'
import { sealConfig, signingKey } from './config/sealConfig.ts'
import { limitConfig, serverConfig } from './config/serverConfig.ts'
import { tabConfig } from './config/tabConfig.ts'
import { signerConfig, x402Config } from './config/signerConfig.ts'
import { findStartMistakes, type StartMode } from './config/startMode.ts'
import { fileSuffix, readVariables } from './config/variableFiles.ts'
import { type GivenVariables, postgresUrl, solanaAddress, variable } from './config/variables.ts'
import { Fault } from '@tollbook/core/fault'
import { logLevels } from './machine/log.ts'

export type { StartMode } from './config/startMode.ts'
export { type ProviderAddresses, sampleModes } from './config/providerConfig.ts'
export { parseShareWallets } from './config/commandConfig.ts'
export { parseSplit } from './pricing/splitSetting.ts'

/** docs/operations.md has the table of all variables. */
const configSchema = z.object({
  logLevel: variable('LOG_LEVEL', z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info')),
  ledger: ledgerConfig,
  migrationDatabaseUrl: variable('MIGRATION_DATABASE_URL', postgresUrl),
  /**
   * Database URL for reports, exports and audits: a standby, or a login that may only read. Undefined: the database of
   * the ledger.
   */
  reportsDatabaseUrl: variable('REPORTS_DATABASE_URL', postgresUrl),
  local: localConfig,
  /**
   * Database URL with a login of `tollbook_operator`, for commands that change settings of the ledger. The service must
   * never use this login.
   */
  operatorDatabaseUrl: variable('OPERATOR_DATABASE_URL', postgresUrl),
  payout: payoutConfig,
  burn: burnConfig,
  chain: chainConfig,
  currencies: currencyConfig,
  /** Mint that the operator permits to burn although it is a stablecoin. conflicts.ts checks it. */
  burnThisMint: variable('BURN_THIS_MINT', solanaAddress),
  receiptSigningKey: variable('RECEIPT_SIGNING_KEY', signingKey),
  seal: sealConfig,
  providers: providerConfig,
  prices: priceConfig,
  catalog: catalogConfig,
  products: deliveryConfig,
  sale: saleConfig,
  tabs: tabConfig,
  x402: x402Config,
  signer: signerConfig,
  finance: financeConfig,
  refunds: refundConfig,
  server: serverConfig,
  limits: limitConfig,
})

/** Local mode supplies the undefined parts. */
export type Config = ReturnType<typeof withDefaults>

export type ReceiptSigningKey = NonNullable<Config['receiptSigningKey']>

/** A configuration that can start the service without local mode. */
export type ServiceConfig = Config & { readonly [K in NeededPart]: NonNullable<Config[K]> }
type NeededPart = 'ledger' | 'chain' | 'receiptSigningKey'

/**
 * Adds the defaults that depend on other variables. Without a chain or ledger, which means local mode, the service
 * listens only on loopback by default.
 */
function withDefaults(config: z.infer<typeof configSchema>) {
  const { chain, ledger, providers, server } = config
  const host = chain === undefined || ledger === undefined ? '127.0.0.1' : '0.0.0.0'
  const sampleUpstreams = chain === undefined ? 'auto' : 'never'
  return {
    ...config,
    providers: { ...providers, sampleUpstreams: providers.sampleUpstreams ?? sampleUpstreams },
    server: { ...server, host: server.host ?? host },
  }
}

const leaves = leavesOf(configSchema)

export const environmentNames: readonly string[] = [...new Set(leaves.map((leaf) => leaf.variable))]

interface ConfigFlags {
  readonly sampleUpstreams?: string | undefined
  readonly productsFile?: string | undefined
  /** Undefined for commands that read only some of the variables. */
  readonly start?: StartMode | undefined
}

/**
 * Sets the size of Node's thread pool, unless the user has set it. Call this before Node first needs a thread of the
 * pool, because Node then reads the size.
 */
export function useThreads(count: number): void {
  process.env['UV_THREADPOOL_SIZE'] ??= String(count)
}

// Thread pool size. Each name lookup holds a thread, for 10 s if a name server is silent. With this size, lookups of
// providers do not block the database and the chain. An idle thread uses only a stack, of which little memory is in
// use.
const serviceThreads = 64

export function useServiceThreads(): void {
  useThreads(serviceThreads)
}

/** Throws one fault that lists every mistake with its fix. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
  { sampleUpstreams, productsFile, start }: ConfigFlags = {},
): Config {
  const flagged = {
    ...env,
    ...(sampleUpstreams === undefined ? {} : { SAMPLE_UPSTREAMS: sampleUpstreams }),
    ...(productsFile === undefined ? {} : { PRODUCTS_FILE: productsFile }),
  }
  const { given, set, mistakes: unreadable } = readVariables(flagged, environmentNames)
  const mistyped = mistypedVariables(env)
  const parsed = configSchema.safeParse(inputOf(configSchema, given))
  const invalid = (parsed.error?.issues ?? []).map((issue) => mistakeOf(issue, given))
  const gaps = start === undefined ? undefined : findStartMistakes(start, { given, set, mistyped })
  // Remove duplicates: a variable may occur several times, and two checks may report the same missing variable.
  const conflicts = findConflicts(given, (name) => set.includes(name))
  const mistakes = new Set([...unreadable, ...invalid, ...(gaps?.mistakes ?? []), ...conflicts])
  if (parsed.success && mistakes.size === 0) return withDefaults(parsed.data)
  const asked = mistyped.map(({ name, meant }) => `${name} is not read: did you mean ${meant}?`)
  throw configFault([...mistakes], [...(gaps?.advice ?? []), ...asked])
}

/** Reads a variable that the products file mentions, from the environment or from the file that `NAME_FILE` names. */
export function readVariable(name: string): { readonly value: string } | { readonly problem: string } {
  const { given, mistakes } = readVariables(process.env, [name])
  const value = given[name]
  if (value !== undefined && mistakes.length === 0) return { value }
  return { problem: mistakes.length === 0 ? 'is not set' : `cannot be read: ${mistakes.join('; ')}` }
}

export function configFault(mistakes: readonly string[], hints: readonly string[] = []): Fault {
  const lines = [...mistakes, ...hints].map((line) => `\n  ${line}`).join('')
  const s = mistakes.length === 1 ? '' : 's'
  return new Fault(`the configuration has ${mistakes.length} mistake${s}:${lines}`, { retryable: false })
}

export function mistypedVariables(
  env: Readonly<Record<string, string | undefined>> = process.env,
): readonly MistypedVariable[] {
  return findMistyped(env, [...environmentNames, ...environmentNames.map((name) => name + fileSuffix)])
}

export function isServiceConfig(config: Config): config is ServiceConfig {
  return config.ledger !== undefined && config.chain !== undefined && config.receiptSigningKey !== undefined
}

// Matches the names of secret variables. Names with URL or FEEDS are included, because a URL can contain a password or
// a key.
const secretName = /KEY|SECRET|URL|FEEDS/
const shownCharactersMax = 80

function mistakeOf({ path, message }: z.core.$ZodIssue, given: GivenVariables): string {
  const name = variableAt(leaves, path) ?? path.join('.')
  const value = given[name] ?? ''
  const isShown = !secretName.test(name) && value.length <= shownCharactersMax
  return `${name} ${message}${isShown ? ` (got ${JSON.stringify(value)})` : ''}`
}
