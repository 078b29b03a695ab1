import type { Keypair } from '@solana/web3.js'
import { type LedgerServer, startLedgerServer } from './ledgerServer.ts'
import type { GivenAccount } from '@tollbook/localnet/givenAccount'
import type { NodeBehaviour } from '@tollbook/localnet/localChain'
import { type SpawnedLocalChain, spawnLocalChain } from '@tollbook/localnet/spawnLocalChain'
import { type Home, makeReceiptKey } from '../../src/cli/local/home.ts'
import { provisionWallets } from '../support/provisionWallets.ts'
import { silentLog } from '../../src/machine/log.ts'
import { createPayer, type Payer } from '../support/payer.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import type { TestDatabase } from '../support/testDatabase.ts'

/** Dependencies of server processes: a Postgres, a chain in a separate process, and a wallet with tokens. */
export interface ProofEnvironment extends AsyncDisposable {
  readonly database: TestDatabase
  readonly chain: SpawnedLocalChain
  readonly payer: Payer
  readonly mint: string
  readonly paymentWallet: Keypair
  /** Receives the deposits of tabs where `TAB_WALLET` names it. */
  readonly tabWallet: Keypair
  /** The payer's. */
  readonly demoWallet: Keypair
  /** Gone with everything else at the end. */
  readonly directory: string
  /** The configuration of one more server. */
  readonly env: Readonly<Record<string, string>>
}

/** One client address sends everything here, as fast as it can. */
export const noLimits = {
  RATE_LIMIT_PER_MINUTE: '0',
  QUOTES_PER_ADDRESS_MAX: '0',
  QUOTES_PER_WALLET_MAX: '0',
  OPEN_QUOTES_MEGABYTES: '0',
  UNKNOWN_PROOFS_PER_MINUTE: '0',
}

// A slot is quick, so that a payment confirms at once, and not so quick that the timer is all that runs.
const slotMs = 40

export interface EnvironmentOptions {
  /** RPC nodes of the chain; the payer uses the last one. By default one node that shows the newest state. */
  readonly nodes?: readonly NodeBehaviour[]
  /** Accounts that the chain begins with. */
  readonly accounts?: readonly GivenAccount[]
  /** By default one durable Postgres. */
  readonly startServer?: () => Promise<Pick<LedgerServer, 'createDatabase' | typeof Symbol.asyncDispose>>
  /** Keys and a chain that the next run finds again. By default all are new, and gone at the end. */
  readonly stored?: { readonly home: Home; readonly chainDirectory: string }
}

export async function openEnvironment({
  startServer = startLedgerServer,
  stored,
  ...options
}: EnvironmentOptions = {}): Promise<ProofEnvironment> {
  await using opened = new AsyncDisposableStack()
  const directory = await makeTemporaryDirectory()
  opened.defer(directory.remove)
  const server = opened.use(await startServer())
  const database = await server.createDatabase()
  const state = stored === undefined ? {} : { stateDirectory: stored.chainDirectory }
  const chain = await spawnLocalChain({ slotMs, log: silentLog, ...state, ...options })
  opened.defer(() => chain.stop())
  const wallets = await provisionWallets(chain, stored?.home)
  const receiptKey = (await stored?.home.receiptKey()) ?? makeReceiptKey()
  const env = {
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'fatal',
    DATABASE_URL: database.serviceUrl,
    SOLANA_RPC_URLS: chain.rpcUrl,
    TOKEN_MINT: wallets.mint.publicKey.toBase58(),
    PAYMENT_WALLET: wallets.paymentWallet.publicKey.toBase58(),
    // A browser is started only where pages are rendered.
    RENDER_CONCURRENCY: '0',
    PROVIDER_PROBES: '0',
    ARTIFACT_DIR: `${directory.path}/artifacts`,
    RECEIPT_SIGNING_KEY: JSON.stringify(receiptKey),
    ...noLimits,
  }
  const payer = createPayer({ rpcUrl: chain.rpcUrls.at(-1) ?? chain.rpcUrl, wallet: wallets.demoWallet })
  const disposables = opened.move()
  return {
    database,
    chain,
    payer,
    mint: env.TOKEN_MINT,
    paymentWallet: wallets.paymentWallet,
    tabWallet: wallets.tabWallet,
    demoWallet: wallets.demoWallet,
    directory: directory.path,
    env,
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  }
}
