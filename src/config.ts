import { z } from 'zod'
import { catalogConfig } from './config/catalogConfig.ts'
import { chainConfig, localConfig } from './config/chainConfig.ts'
import { burnConfig, payoutConfig } from './config/commandConfig.ts'
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
import { signerConfig, x402Config } from './config/signerConfig.ts'
import { findStartMistakes, type StartMode } from './config/startMode.ts'
import { fileSuffix, readVariables } from './config/variableFiles.ts'
import { type GivenVariables, postgresUrl, solanaAddress, variable } from './config/variables.ts'
import { Fault } from '@tollbook/core/fault'
import { logLevels } from './machine/log.ts'

export type { StartMode } from './config/startMode.ts'
export { type ProviderAddresses, sampleModes } from './config/providerConfig.ts'
export { upstreamNames } from './product/upstreamName.ts'
export { parseShareWallets } from './config/commandConfig.ts'
export { parseSplit } from './pricing/splitSetting.ts'

/** All variables, grouped by the part that takes them; docs/operations.md has the table. */
const configSchema = z.object({
  logLevel: variable('LOG_LEVEL', z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info')),
  ledger: ledgerConfig,
  migrationDatabaseUrl: variable('MIGRATION_DATABASE_URL', postgresUrl),
  /** A standby, or a login that may only read, for reports, exports and audits. Undefined: the database of the ledger. */
  reportsDatabaseUrl: variable('REPORTS_DATABASE_URL', postgresUrl),
  local: localConfig,
  /** For the commands that change settings of the ledger: a login of `tollbook_operator`, never the service's. */
  operatorDatabaseUrl: variable('OPERATOR_DATABASE_URL', postgresUrl),
  payout: payoutConfig,
  burn: burnConfig,
  chain: chainConfig,
  /** Read by conflicts.ts. */
  burnThisMint: variable('BURN_THIS_MINT', solanaAddress),
  receiptSigningKey: variable('RECEIPT_SIGNING_KEY', signingKey),
  seal: sealConfig,
  providers: providerConfig,
  prices: priceConfig,
  catalog: catalogConfig,
  products: deliveryConfig,
  sale: saleConfig,
  x402: x402Config,
  signer: signerConfig,
  finance: financeConfig,
  refunds: refundConfig,
  server: serverConfig,
  limits: limitConfig,
})

/** The operator's configuration. Undefined parts are left to local mode. */
export type Config = ReturnType<typeof withDefaults>

/** The private key that signs receipts, as a JWK. */
export type ReceiptSigningKey = NonNullable<Config['receiptSigningKey']>

/** A configuration that leaves nothing to local mode. */
export type ServiceConfig = Config & { readonly [K in NeededPart]: NonNullable<Config[K]> }
type NeededPart = 'ledger' | 'chain' | 'receiptSigningKey'

/** Local mode holds keys to demonstration money only, and still serves only its own machine by default. */
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

/** Names of all variables that are read. */
export const environmentNames: readonly string[] = [...new Set(leaves.map((leaf) => leaf.variable))]

interface ConfigFlags {
  /** Flag of the command line that stands for a variable. */
  readonly sampleUpstreams?: string | undefined
  /** Set by the commands that start a service. Undefined: a command that reads some of the variables. */
  readonly start?: StartMode | undefined
}

/** Sets the size of Node's thread pool unless the user has set it. Node reads it when it first needs a thread. */
export function useThreads(count: number): void {
  process.env['UV_THREADPOOL_SIZE'] ??= String(count)
}

// Each lookup of a name holds a thread, for 10 s while a name server is silent. Polls of providers must not keep the database
// and the chain waiting; an idle thread costs a stack of which almost nothing is used.
const serviceThreads = 64

/** Has to be called before the thread pool of libuv is used for the first time. */
export function useServiceThreads(): void {
  useThreads(serviceThreads)
}

/** Reads the environment and the files that it names, or throws one fault that lists every mistake with its fix. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
  { sampleUpstreams, start }: ConfigFlags = {},
): Config {
  const flagged = sampleUpstreams === undefined ? env : { ...env, SAMPLE_UPSTREAMS: sampleUpstreams }
  const { given, set, mistakes: unreadable } = readVariables(flagged, environmentNames)
  const mistyped = mistypedVariables(env)
  const parsed = configSchema.safeParse(inputOf(configSchema, given))
  const invalid = (parsed.error?.issues ?? []).map((issue) => mistakeOf(issue, given))
  const gaps = start === undefined ? [] : findStartMistakes(start, { given, set, mistyped })
  // A variable may have several places, and two checks may name the same missing one.
  const mistakes = new Set([...unreadable, ...invalid, ...gaps, ...findConflicts(given, (name) => set.includes(name))])
  if (parsed.success && mistakes.size === 0) return withDefaults(parsed.data)
  const asked = mistyped.map(({ name, meant }) => `${name} is not read: did you mean ${meant}?`)
  throw configFault([...mistakes], asked)
}

/** One fault that lists all mistakes of a configuration. */
export function configFault(mistakes: readonly string[], hints: readonly string[] = []): Fault {
  const lines = [...mistakes, ...hints].map((line) => `\n  ${line}`).join('')
  const s = mistakes.length === 1 ? '' : 's'
  return new Fault(`the configuration has ${mistakes.length} mistake${s}:${lines}`, { retryable: false })
}

/** Variables that nothing reads and that look like one of ours. */
export function mistypedVariables(
  env: Readonly<Record<string, string | undefined>> = process.env,
): readonly MistypedVariable[] {
  return findMistyped(env, [...environmentNames, ...environmentNames.map((name) => name + fileSuffix)])
}

/** True when ledger, chain and receipt key are configured, so that the service starts without local mode. */
export function isServiceConfig(config: Config): config is ServiceConfig {
  return config.ledger !== undefined && config.chain !== undefined && config.receiptSigningKey !== undefined
}

// URLs can carry a password or a key.
const secretName = /KEY|SECRET|URL|FEEDS/
const shownCharactersMax = 80

function mistakeOf({ path, message }: z.core.$ZodIssue, given: GivenVariables): string {
  const name = variableAt(leaves, path) ?? path.join('.')
  const value = given[name] ?? ''
  const isShown = !secretName.test(name) && value.length <= shownCharactersMax
  return `${name} ${message}${isShown ? ` (got ${JSON.stringify(value)})` : ''}`
}
