import { join } from 'node:path'
import { createService, type ServiceConfig } from '../compose.ts'
import type { Config } from '../config.ts'
import type { Log } from '../primitives/log.ts'
import { spawnLocalChain } from './chain/spawnLocalChain.ts'
import { type Home, openHome } from './home.ts'
import { startEmbeddedPostgres } from './postgres/embeddedPostgres.ts'
import { provisionChain } from './provisionChain.ts'
import { admitApiRole, apiRole, databaseName, makeDatabase, ownerRole } from './provisionDatabase.ts'

export interface LocalModeOptions {
  readonly log: Log
  /** Brings a database up to date, as its owner. Passed in, because local mode does not reach into the store. */
  readonly migrate: (options: { readonly databaseUrl: string }) => Promise<unknown>
  /** A part that local mode started has died. */
  readonly onPartLost: (error: Error) => void
}

export interface LocalMode {
  readonly baseUrl: string
  readonly localJsonPath: string
  close(): Promise<void>
}

interface LocalDatabase {
  readonly databaseUrl: string
  readonly adminDatabaseUrl: string | null
}

interface LocalChainParts {
  readonly chain: ServiceConfig['chain']
  readonly facts: object
}

/**
 * The whole service on one machine without any set-up: whatever the configuration leaves out, a database or a chain, is
 * started here and filled with what a demonstration needs. A later start finds everything in place.
 */
export async function startLocalMode(config: Config, options: LocalModeOptions): Promise<LocalMode> {
  await using opened = new AsyncDisposableStack()
  const home = await openHome(config.home)
  const database = await openLocalDatabase(config, { home, opened, ...options })
  const { chain, facts } = await openLocalChain(config, { home, opened, ...options })
  const receiptSigningKey = config.receiptSigningKey ?? (await home.receiptKey())
  const { databaseUrl } = database
  const serviceConfig = {
    ...config,
    databaseUrl,
    chain,
    receiptSigningKey,
    checkpointFile: checkpointFileOf(config, home),
  }
  const service = await createService(serviceConfig, { log: options.log })
  opened.defer(() => service.close())

  const baseUrl = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${service.port}`
  const { d: _private, ...receiptKey } = receiptSigningKey
  const localJsonPath = await home.writeLocalJson({
    baseUrl,
    ...facts,
    ...database,
    tokenMint: chain.tokenMint,
    paymentWallet: chain.paymentWallet,
    receiptKey,
    financeToken: null,
    auditorToken: null,
  })
  const kept = opened.move()
  return { baseUrl, localJsonPath, close: () => kept.disposeAsync() }
}

/** Beside our own database. Of somebody else's it could only say that they have another one now. */
function checkpointFileOf({ checkpointFile, databaseUrl }: Config, home: Home): string | undefined {
  return checkpointFile ?? (databaseUrl === undefined ? join(home.path, 'checkpoint') : undefined)
}

interface Opening extends LocalModeOptions {
  readonly home: Home
  readonly opened: AsyncDisposableStack
}

async function openLocalDatabase(
  config: Config,
  { home, opened, log, migrate, onPartLost }: Opening,
): Promise<LocalDatabase> {
  if (config.databaseUrl !== undefined) return { databaseUrl: config.databaseUrl, adminDatabaseUrl: null }
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(home.path, 'postgres'),
    port: config.localPostgresPort,
    log,
    onLost: onPartLost,
  })
  opened.defer(() => postgres.stop())
  const [ownerPassword, apiPassword] = await Promise.all([home.secret('postgres-owner'), home.secret('postgres-api')])
  await makeDatabase(postgres.adminUrl, { ownerPassword, apiPassword })
  await migrate({ databaseUrl: postgres.urlFor({ user: ownerRole, password: ownerPassword, database: databaseName }) })
  await admitApiRole(postgres.adminUrl)
  const adminDatabaseUrl = new URL(postgres.adminUrl)
  adminDatabaseUrl.pathname = `/${databaseName}`
  const databaseUrl = postgres.urlFor({ user: apiRole, password: apiPassword, database: databaseName })
  return { databaseUrl, adminDatabaseUrl: adminDatabaseUrl.href }
}

async function openLocalChain(config: Config, { home, opened, log, onPartLost }: Opening): Promise<LocalChainParts> {
  if (config.chain !== undefined)
    return { chain: config.chain, facts: { rpcUrl: config.chain.rpcUrls[0], wsUrl: null } }
  const [mint, mintAuthority, paymentWallet, demoWallet] = await Promise.all([
    home.keypair('token-mint'),
    home.keypair('mint-authority'),
    home.keypair('payment-wallet'),
    home.keypair('demo-wallet'),
  ])
  const chain = await spawnLocalChain({
    port: config.localChainPort,
    stateDirectory: join(home.path, 'chain'),
    log,
    onUnexpectedExit: onPartLost,
  })
  opened.defer(() => chain.stop())
  const { rpcUrl, wsUrl } = chain
  await provisionChain(chain, {
    mint: mint.keypair,
    mintAuthority: mintAuthority.keypair,
    paymentWallet: paymentWallet.keypair,
    demoWallet: demoWallet.keypair,
  })
  return {
    chain: {
      rpcUrls: [rpcUrl],
      tokenMint: mint.keypair.publicKey.toBase58(),
      paymentWallet: paymentWallet.keypair.publicKey.toBase58(),
    },
    facts: {
      rpcUrl,
      wsUrl,
      demoWallet: { address: demoWallet.keypair.publicKey.toBase58(), keypairPath: demoWallet.path },
      mintAuthorityKeypairPath: mintAuthority.path,
    },
  }
}
