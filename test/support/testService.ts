import type { Keypair } from '@solana/web3.js'
import { createService, type ServiceOptions } from '../../src/compose.ts'
import { isServiceConfig, readConfig, type ServiceConfig } from '../../src/config.ts'
import { type LocalChain, startLocalChain } from '@tollbook/localnet/localChain'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { provisionWallets } from './provisionWallets.ts'
import type { Clock } from '@tollbook/core/clock'
import { type Log, silentLog } from '../../src/machine/log.ts'
import { afterFile } from './afterFile.ts'
import { calmLoad } from './calmLoad.ts'
import { createTestDatabase } from './database.ts'
import { createPayer, type Payer } from './payer.ts'
import { makeScratchDirectory } from './scratchDirectory.ts'
import type { TestDatabase } from './testDatabase.ts'

export interface TestServiceOptions {
  readonly seams?: ServiceOptions['seams']
  /** Limits that no variable sets. */
  readonly sale?: Partial<ServiceConfig['sale']>
  readonly log?: Log
  readonly env?: Readonly<Record<string, string>>
  /** Sells tabs. */
  readonly sellsTabs?: true
  /** The service's; the chain goes by real time. */
  readonly clock?: Clock
  /** Number of RPC nodes of the chain (default 1); the service uses the first. */
  readonly nodes?: number
  /** Duration of a slot of the chain. A payment is final after 32 of them. */
  readonly slotMs?: number
  /** Another instance of this service: same ledger, same chain. */
  readonly besides?: TestService
}

/** The whole service on real parts: real Postgres, the real SVM, real HTTP. */
export interface TestService {
  readonly baseUrl: string
  /** Undefined when the finance reports are not served. */
  readonly financeUrl: string | undefined
  /** Undefined without a separate listener for health checks. */
  readonly healthUrl: string | undefined
  readonly chain: LocalChain
  readonly database: TestDatabase
  /** The demo wallet, with 100,000 tokens. */
  readonly payer: Payer
  /** The same wallet, for clients that are not ours. */
  readonly demoWallet: Keypair
  readonly paymentWallet: Keypair
  readonly tabWallet: Keypair
  readonly mint: string
  readonly mintAuthority: Keypair
  /** Reads the products file again. */
  readonly reload: () => Promise<void>
  readonly close: () => Promise<void>
}

interface Environment {
  readonly chain: LocalChain
  readonly database: TestDatabase
  readonly wallets: {
    readonly mint: Keypair
    readonly mintAuthority: Keypair
    readonly paymentWallet: Keypair
    readonly tabWallet: Keypair
    readonly demoWallet: Keypair
  }
  readonly receiptKey: string
  readonly artifactDirectory: string
}

const environments = new WeakMap<TestService, Environment>()
// Fast enough that a payment confirms at once, slow enough that the slot timer is not all that runs.
const slotMsDefault = 40
// 20 s at this duration. A busy machine takes longer than the 6 s of 150 slots from a blockhash to its payment.
const blockhashSlots = 500
// Shorter than the service's where a test waits for a payment that was never sent. Longer where only a busy machine
// needs the time: stock clients do not repeat a 503.
const waits = { proofLookupWaitMs: 600, broadcastWaitMs: 60_000 }

export async function openTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const environment =
    (options.besides === undefined ? undefined : environments.get(options.besides)) ?? (await openEnvironment(options))
  const { chain, database, wallets, receiptKey, artifactDirectory } = environment
  const config = readConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: database.serviceUrl,
    SOLANA_RPC_URLS: chain.rpcUrl,
    TOKEN_MINT: wallets.mint.publicKey.toBase58(),
    PAYMENT_WALLET: wallets.paymentWallet.publicKey.toBase58(),
    RECEIPT_SIGNING_KEY: receiptKey,
    // Tests query no real provider; a test that sells news names its own sources.
    NEWS_POLLING: '0',
    PROVIDER_PROBES: '0',
    // A browser is started only where pages are rendered.
    RENDER_CONCURRENCY: '0',
    ARTIFACT_DIR: artifactDirectory,
    ...(options.sellsTabs === undefined ? {} : { TAB_WALLET: wallets.tabWallet.publicKey.toBase58() }),
    ...options.env,
  })
  if (!isServiceConfig(config)) throw new Error('the service is configured')
  const sale = { ...config.sale, ...waits, ...options.sale }
  const service = await createService(
    { ...config, sale },
    {
      log: options.log ?? silentLog,
      seams: { load: calmLoad(), ...options.seams },
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    },
  )
  let closing: Promise<void> | undefined
  const close = () => (closing ??= service.close())
  afterFile(close)
  const payer = createPayer({ rpcUrl: chain.rpcUrl, wallet: wallets.demoWallet })
  const urlOf = (port: number) => `http://127.0.0.1:${port}`
  const financeUrl = service.financePort === undefined ? undefined : urlOf(service.financePort)
  const testService: TestService = {
    baseUrl: urlOf(service.port),
    financeUrl,
    healthUrl: service.healthPort === undefined ? undefined : urlOf(service.healthPort),
    chain,
    database,
    payer,
    demoWallet: wallets.demoWallet,
    paymentWallet: wallets.paymentWallet,
    tabWallet: wallets.tabWallet,
    mint: wallets.mint.publicKey.toBase58(),
    mintAuthority: wallets.mintAuthority,
    reload: service.reload,
    close,
  }
  environments.set(testService, environment)
  return testService
}

async function openEnvironment({ nodes = 1, slotMs = slotMsDefault }: TestServiceOptions): Promise<Environment> {
  const artifactDirectory = await makeScratchDirectory()
  const database = await createTestDatabase()
  const chain = await startLocalChain({
    slotMs,
    blockhashSlots,
    nodes: Array.from({ length: nodes }, () => ({ newestState: true })),
  })
  afterFile(() => chain.close())
  const wallets = await provisionWallets(chain)
  return { chain, database, wallets, receiptKey: JSON.stringify(makeReceiptKey()), artifactDirectory }
}
