import { join } from 'node:path'
import { createService, requireFreePorts } from '../../compose.ts'
import { type Config, type ProviderAddresses, type ServiceConfig } from '../../config.ts'
import { systemClock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../../machine/log.ts'
import { spawnLocalChain } from '@tollbook/localnet/spawnLocalChain'
import { listeningUrl } from '../listeningUrl.ts'
import { openLocalFinance } from './financeTokens.ts'
import { type Home, openHome } from './home.ts'
import { openLocalBurner } from './localBurner.ts'
import { giveFunds } from './giveFunds.ts'
import { openLocalSigner } from './localSigner.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { startEmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { provisionDollar, sampleDollarAccount } from './provisionDollar.ts'
import { sampleDollar } from './sampleDollar.ts'
import { type ProvisionedChain, provisionFromHome } from './provisionChain.ts'
import {
  admitLogins,
  apiRole,
  burnRole,
  databaseName,
  createServiceDatabase,
  ownerRole,
  signerRole,
} from '@tollbook/sandbox/postgres/provisionDatabase'
import { startSampleUpstreams } from '@tollbook/sandbox/sampleUpstreams/sampleUpstreams'

export interface LocalModeOptions {
  readonly log: Log
  readonly migrate: (options: { readonly databaseUrl: string }) => Promise<unknown>
  /** Called when a part of local mode has ended unexpectedly, so that the service can stop. */
  readonly onPartLost: (error: Error) => void
  /** Called with each step of the start, because the first start takes several seconds. */
  readonly onProgress?: (step: string) => void
}

export type LocalMode = Awaited<ReturnType<typeof startLocalMode>>

interface LocalSamples extends Pick<Config, 'products'> {
  readonly samples: ProviderAddresses | undefined
  readonly facts: { readonly sampleUpstreams: { readonly mode: string; readonly pageUrl: string } | null }
}

/**
 * Starts local mode. Stores the database, the chain and the keys in the home, and a later start uses them again.
 * `config` contains none of the operator's variables (config/startMode.ts).
 */
export async function startLocalMode(config: Config, options: LocalModeOptions) {
  // A failed start closes every part that it has opened, because their processes would otherwise continue.
  await using opened = new AsyncDisposableStack()
  await requireFreePorts(config)
  const home = await openHome(config.local.home)
  const local = { ...options, config, home, opened }
  const { burnDatabaseUrl, signerDatabaseUrl, ...database } = await openLocalDatabase(local)
  const { chain, tabWallet, facts } = await openLocalChain(local)
  const samples = await openSamples(local)
  const receiptSigningKey = await home.receiptKey()
  const finance = await openLocalFinance(home, systemClock)
  const x402 = await openLocalX402(local, { chain, tabWallet, databaseUrl: signerDatabaseUrl })
  const { artifacts } = samples.products
  const serviceConfig: ServiceConfig = {
    ...config,
    ledger: { databaseUrl: database.databaseUrl, requiresStandby: false },
    chain: { commitment: config.local.commitment, ...chain },
    tabs: { ...config.tabs, wallet: tabWallet },
    currencies: withSampleDollar(config.currencies),
    receiptSigningKey,
    seal: { ...config.seal, checkpointFile: join(home.path, 'checkpoint') },
    products: {
      ...samples.products,
      artifacts: { ...artifacts, directory: artifacts.directory ?? join(home.path, 'artifacts') },
    },
    finance: finance.config,
    // Local mode has no separate login for finance, so the administrator of its database decides refunds.
    refunds: { ...config.refunds, databaseUrl: database.adminDatabaseUrl },
    x402,
  }
  options.onProgress?.('the service')
  const { log } = options
  const fundWallet = await openTestFunds(home, chain)
  const service = await createService(serviceConfig, { log, samples: samples.samples, fundWallet })
  opened.defer(() => service.close())
  startLocalBurner(local, chain, burnDatabaseUrl)

  const baseUrl = listeningUrl(config.server.host, service.port)
  // `local.json` gets only the public part of the key.
  const { d: _private, ...receiptKey } = receiptSigningKey
  const { financeToken, auditorToken, supportToken } = finance
  const localJsonPath = await home.writeLocalJson({
    baseUrl,
    ...facts,
    ...samples.facts,
    ...database,
    tokenMint: chain.tokenMint,
    paymentWallet: chain.paymentWallet,
    receiptKey,
    financeToken,
    auditorToken,
    supportToken,
  })
  const stored = opened.move()
  return {
    baseUrl,
    localJsonPath,
    sampled: service.sampled,
    reload: service.reload,
    // Do not print the token, because output is often stored in logs. The file can be read only by its owner.
    financeUrl: `${baseUrl}/finance (the token is financeToken in ${localJsonPath})`,
    close: () => stored.disposeAsync(),
  }
}

/**
 * Adds the sample dollar to the accepted currencies, unless the configuration has a dollar. Its burn debt has a high
 * limit, so that sales in dollars do not stop.
 */
function withSampleDollar(currencies: Config['currencies']): Config['currencies'] {
  if (currencies.accepted.length > 0) return currencies
  return { ...currencies, accepted: [sampleDollar], burnDebtMaxTokens: localDebtMaxTokens }
}

const localDebtMaxTokens = 1_000_000

// Amounts that are enough to buy each product once.
const testGift = { tokens: '1000', sol: '0.1' }

/** Funds the wallets that the pages of local mode create. Works only on a chain of this machine. */
async function openTestFunds(home: Home, { rpcUrls: [rpcUrl = ''], tokenMint: mint }: ProvisionedChain['chain']) {
  const { keypair: mintAuthority } = await home.keypair('mint-authority')
  return async (address: string): Promise<string | undefined> => {
    try {
      await giveFunds({ rpcUrl, mint, mintAuthority }, { address, ...testGift })
      return undefined
    } catch (error) {
      if (!(error instanceof UsageProblem)) throw error
      return error.message
    }
  }
}

interface LocalOpening extends LocalModeOptions {
  readonly config: Config
  readonly home: Home
  readonly opened: AsyncDisposableStack
}

async function openLocalDatabase({ home, opened, log, migrate, onPartLost, onProgress }: LocalOpening) {
  onProgress?.('Postgres')
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(home.path, 'postgres'),
    // Use any free port, so that the starts of two homes do not collide.
    port: 0,
    log,
    onLost: onPartLost,
  })
  opened.defer(() => postgres.stop())
  const [ownerPassword, apiPassword, burnPassword, signerPassword] = await Promise.all([
    home.secret('postgres-owner'),
    home.secret('postgres-api'),
    home.secret('postgres-burn'),
    home.secret('postgres-signer'),
  ])
  await createServiceDatabase(postgres.adminUrl, { ownerPassword, apiPassword, burnPassword, signerPassword })
  const urlFor = (user: string, password: string) => postgres.urlFor({ user, password, database: databaseName })
  await migrate({ databaseUrl: urlFor(ownerRole, ownerPassword) })
  // Admit the logins after the migrations, which create the group roles.
  await admitLogins(postgres.adminUrl)
  const adminDatabaseUrl = new URL(postgres.adminUrl)
  adminDatabaseUrl.pathname = `/${databaseName}`
  return {
    databaseUrl: urlFor(apiRole, apiPassword),
    burnDatabaseUrl: urlFor(burnRole, burnPassword),
    signerDatabaseUrl: urlFor(signerRole, signerPassword),
    adminDatabaseUrl: adminDatabaseUrl.href,
  }
}

async function openLocalChain({ home, opened, log, onPartLost, onProgress }: LocalOpening): Promise<ProvisionedChain> {
  onProgress?.('a Solana chain')
  const [mintAuthority, paymentWallet, tabWallet, demoWallet] = await Promise.all([
    home.keypair('mint-authority'),
    home.keypair('payment-wallet'),
    home.keypair('tab-wallet'),
    home.keypair('demo-wallet'),
  ])
  const chain = await spawnLocalChain({
    port: 0,
    stateDirectory: join(home.path, 'chain'),
    accounts: [sampleDollarAccount(mintAuthority.keypair)],
    log,
    onUnexpectedExit: onPartLost,
  })
  opened.defer(() => chain.stop())
  const provisioned = await provisionFromHome(home, chain.rpcUrl)
  await provisionDollar(chain.rpcUrl, {
    mintAuthority: mintAuthority.keypair,
    paymentWallet: paymentWallet.keypair.publicKey,
    tabWallet: tabWallet.keypair.publicKey,
    demoWallet: demoWallet.keypair.publicKey,
  })
  return provisioned
}

interface SignedChain extends Pick<ProvisionedChain, 'chain' | 'tabWallet'> {
  readonly databaseUrl: string
}

async function openLocalX402({ home, opened, log, onPartLost, onProgress }: LocalOpening, signed: SignedChain) {
  onProgress?.('the signer of the network fees')
  const signer = await openLocalSigner({ home, ...signed, log, onUnexpectedExit: onPartLost })
  opened.defer(() => signer.stop())
  return signer.config
}

/** Starts the burner in the background, because it first waits until a payment owes a burn. */
function startLocalBurner(local: LocalOpening, chain: ProvisionedChain['chain'], databaseUrl: string): void {
  const { config, home, opened, log, onPartLost: onUnexpectedExit } = local
  const stopping = new AbortController()
  const { logLevel } = config
  const starting = openLocalBurner({ home, chain, databaseUrl, log, logLevel, onUnexpectedExit }, stopping.signal)
  starting.catch((error: unknown) => log.error({ event: 'local_burner_failed', error: describeError(error) }))
  opened.defer(async () => {
    stopping.abort()
    const burner = await starting.catch(() => undefined)
    await burner?.stop()
  })
}

async function openSamples({ config, opened, log }: LocalOpening): Promise<LocalSamples> {
  const { providers, products } = config
  const mode = providers.sampleUpstreams
  if (mode === 'never') return { samples: undefined, products, facts: { sampleUpstreams: null } }
  const samples = await startSampleUpstreams({ clock: systemClock })
  opened.defer(() => samples.close())
  const { pageUrl } = samples
  const whom = mode === 'always' ? 'no provider is asked' : 'samples replace providers that do not answer'
  log.info({ event: 'sample_upstreams', mode, note: `${whom}; answers made of samples say so` })
  // Allow the sample page, because it is on loopback. The renderer refuses loopback hosts that are not allowed.
  const render = { ...products.render, allowHosts: [...products.render.allowHosts, new URL(pageUrl).host] }
  const { upstreams, chatServer, newsFeeds } = samples
  return {
    samples: { upstreams, newsFeeds: [...newsFeeds], aiServers: [{ ...chatServer, apiKey: undefined }] },
    products: { ...products, render },
    facts: { sampleUpstreams: { mode, pageUrl } },
  }
}
