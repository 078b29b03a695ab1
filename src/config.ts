import { z } from 'zod'
import { type BackupSettings, backupSettingsOf, backupVariables } from './config/backupSettings.ts'
import { type BurnSettings, burnSettingsOf, burnVariables } from './config/burnSettings.ts'
import { type CatalogSettings, catalogSettingsOf, catalogVariables } from './config/catalogSettings.ts'
import {
  burnsMoney,
  type ChainSettings,
  chainSettingsOf,
  chainVariables,
  missingChainVariables,
  needsSecondNode,
} from './config/chainSettings.ts'
import {
  type FinanceSettings,
  financeSettingsOf,
  financeVariables,
  missingFinanceVariables,
} from './config/financeSettings.ts'
import { type LedgerSettings, ledgerSettingsOf, ledgerVariables } from './config/ledgerSettings.ts'
import { type LimitSettings, limitSettingsOf, limitVariables } from './config/limitSettings.ts'
import { type LocalSettings, localVariables } from './config/localSettings.ts'
import { operatorVariables } from './config/operatorSettings.ts'
import { type PayoutSettings, payoutSettingsOf, payoutVariables } from './config/payoutSettings.ts'
import { type RefundSettings, refundSettingsOf, refundVariables } from './config/refundSettings.ts'
import { type PriceSettings, priceSettingsOf, priceVariables } from './config/priceSettings.ts'
import {
  missingDeliveryVariables,
  type DeliverySettings,
  deliverySettingsOf,
  deliveryVariables,
} from './config/deliverySettings.ts'
import {
  missingProviderVariables,
  type ProviderSettings,
  providerSettingsOf,
  providerVariables,
  sampleConflicts,
} from './config/providerSettings.ts'
import {
  type LifecycleSettings,
  lifecycleSettingsOf,
  outlastsLease,
  type SaleSettings,
  saleSettingsOf,
  saleVariables,
} from './config/saleSettings.ts'
import { type ReceiptSigningKey, type SealSettings, sealSettingsOf, sealVariables } from './config/sealSettings.ts'
import {
  missingSignerVariables,
  signerConflicts,
  type SignerSettings,
  signerSettingsOf,
  signerVariables,
  type X402Settings,
  x402SettingsOf,
} from './config/signerSettings.ts'
import { type ServerSettings, serverSettingsOf, serverVariables, sharedPorts } from './config/serverSettings.ts'
import { findMistyped, type MistypedVariable } from './config/mistypedVariables.ts'
import { findStartMistakes, type StartMode } from './config/startMode.ts'
import { type GivenVariables, postgresUrl } from './config/variables.ts'
import { fileSuffix, readVariables } from './config/variableFiles.ts'
import { Fault } from '@tollbook/core/fault'
import { type LogLevel, logLevels } from './machine/log.ts'

export { ledgerSettingsFor } from './config/ledgerSettings.ts'
export type { StartMode } from './config/startMode.ts'
export { type ProviderAddresses, sampleModes } from './config/providerSettings.ts'
export { upstreamNames } from './product/upstreamName.ts'
export { parseShareWallets } from './config/payoutSettings.ts'
export { parseSplit } from './pricing/splitSetting.ts'
export type { ReceiptSigningKey }

/** The operator's settings, grouped by the part that takes them; docs/operations.md has the table. */
export interface Config {
  readonly logLevel: LogLevel
  readonly local: LocalSettings
  readonly migrationDatabaseUrl: string | undefined
  /** A standby, or a login that may only read, for reports, exports and audits. Undefined: the database of the ledger. */
  readonly reportsDatabaseUrl: string | undefined
  /** For the commands that change settings of the ledger only. */
  readonly operatorDatabaseUrl: string | undefined
  readonly payout: PayoutSettings
  readonly burn: BurnSettings
  readonly backup: BackupSettings
  /** Undefined: local mode starts an embedded Postgres. */
  readonly ledger: LedgerSettings | undefined
  /** Undefined: local mode starts a chain. */
  readonly chain: ChainSettings | undefined
  /** Undefined: local mode makes a key. */
  readonly receiptSigningKey: ReceiptSigningKey | undefined
  readonly seal: SealSettings
  readonly providers: ProviderSettings
  readonly prices: PriceSettings
  readonly catalog: CatalogSettings
  readonly products: DeliverySettings
  readonly sale: SaleSettings
  /** Undefined: nothing is offered by x402. */
  readonly x402: X402Settings | undefined
  readonly signer: SignerSettings
  readonly lifecycle: LifecycleSettings
  readonly finance: FinanceSettings | undefined
  readonly refunds: RefundSettings
  readonly server: ServerSettings
  readonly limits: LimitSettings
}

/** A configuration that leaves nothing to local mode. */
export type ServiceConfig = Config & {
  readonly ledger: LedgerSettings
  readonly chain: ChainSettings
  readonly receiptSigningKey: ReceiptSigningKey
}

const environment = z.object({
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  ...ledgerVariables,
  MIGRATION_DATABASE_URL: postgresUrl,
  REPORTS_DATABASE_URL: postgresUrl,
  ...localVariables,
  ...operatorVariables,
  ...payoutVariables,
  ...burnVariables,
  ...backupVariables,
  ...chainVariables,
  ...sealVariables,
  ...providerVariables,
  ...priceVariables,
  ...catalogVariables,
  ...deliveryVariables,
  ...saleVariables,
  ...signerVariables,
  ...financeVariables,
  ...refundVariables,
  ...serverVariables,
  ...limitVariables,
})

/** Names of all variables that are read. */
export const environmentNames: readonly string[] = Object.keys(environment.shape)

interface ConfigFlags {
  /** Flag of the command line that stands for a variable. */
  readonly sampleUpstreams?: string | undefined
  /** Set by the commands that start a service. Undefined: a command that reads some of the settings. */
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
  const parsed = environment.safeParse(given)
  const invalid = (parsed.error?.issues ?? []).map((issue) => mistakeOf(issue, given))
  const gaps = start === undefined ? [] : findStartMistakes(start, { given, set, mistyped })
  // Both may name the same missing variable.
  const others = new Set([...gaps, ...findConflicts(given, (name) => set.includes(name))])
  const mistakes = [...unreadable, ...invalid, ...others]
  if (parsed.success && mistakes.length === 0) return configOf(parsed.data)
  const asked = mistyped.map(({ name, meant }) => `${name} is not read: did you mean ${meant}?`)
  const [s, lines] = [
    mistakes.length === 1 ? '' : 's',
    [...mistakes, ...asked].map((mistake) => `  ${mistake}\n`).join(''),
  ]
  throw new Fault(`the configuration has ${mistakes.length} mistake${s}:\n${lines.trimEnd()}`, { retryable: false })
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
  const name = String(path[0])
  const value = given[name] ?? ''
  const isShown = !secretName.test(name) && value.length <= shownCharactersMax
  return `${name} ${message}${isShown ? ` (got ${JSON.stringify(value)})` : ''}`
}

/** Mistakes that no variable has by itself. */
function findConflicts(given: GivenVariables, isSet: (name: string) => boolean): readonly string[] {
  const missing = [
    ...missingChainVariables(given),
    ...missingProviderVariables(given),
    ...missingDeliveryVariables(given),
    ...missingFinanceVariables(given),
    ...missingSignerVariables(given),
  ]
  return [
    ...missing.filter(([name]) => !isSet(name)).map(([name, why]) => `${name} is missing: ${why}`),
    ...sampleConflicts(given),
    ...sharedPorts(given),
    ...signerConflicts(given),
    ...burnsMoney(given),
    ...(needsSecondNode(given) ? ['SOLANA_QUORUM_ABOVE_USD needs two URLs in SOLANA_RPC_URLS'] : []),
    ...(outlastsLease(given)
      ? ['HANDLER_TIMEOUT_MS must be shorter than CLAIM_LEASE_SECONDS, or an attempt could be taken over while it runs']
      : []),
  ]
}

function configOf(env: z.infer<typeof environment>): Config {
  const { DATABASE_URL: databaseUrl } = env
  const chain = chainSettingsOf(env)
  const isLocal = chain === undefined || databaseUrl === undefined
  // Local mode holds keys to demonstration money only, and still serves only its own machine by default.
  const server = serverSettingsOf(env, isLocal ? '127.0.0.1' : '0.0.0.0')
  const sale = saleSettingsOf(env)
  return {
    logLevel: env.LOG_LEVEL,
    local: {
      home: env.TOLLBOOK_HOME,
      postgresPort: env.LOCAL_POSTGRES_PORT,
      chainPort: env.LOCAL_CHAIN_PORT,
      commitment: env.SOLANA_COMMITMENT,
    },
    migrationDatabaseUrl: env.MIGRATION_DATABASE_URL,
    reportsDatabaseUrl: env.REPORTS_DATABASE_URL,
    operatorDatabaseUrl: env.OPERATOR_DATABASE_URL,
    payout: payoutSettingsOf(env),
    burn: burnSettingsOf(env),
    backup: backupSettingsOf(env),
    ledger: ledgerSettingsOf(env),
    chain,
    receiptSigningKey: env.RECEIPT_SIGNING_KEY,
    seal: sealSettingsOf(env),
    providers: providerSettingsOf(env, {
      handlerTimeoutMs: sale.handlerTimeoutMs,
      hasLocalChain: chain === undefined,
    }),
    prices: priceSettingsOf(env),
    catalog: catalogSettingsOf(env),
    products: deliverySettingsOf(env),
    sale,
    x402: x402SettingsOf(env),
    signer: signerSettingsOf(env),
    lifecycle: lifecycleSettingsOf(env),
    finance: financeSettingsOf(env, server.publicUrl),
    refunds: refundSettingsOf(env),
    server,
    limits: limitSettingsOf(env),
  }
}
