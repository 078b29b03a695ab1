import { spawnLocalChain } from '@tollbook/localnet/spawnLocalChain'
import { writeFile } from 'node:fs/promises'
import { assertPresent } from '@tollbook/core/assert'
import { makeReceiptKey } from '../../../src/cli/local/home.ts'
import { provisionWallets } from '../../support/provisionWallets.ts'
import { silentLog } from '../../../src/machine/log.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { createPayer, type Payer } from '../../support/payer.ts'
import { type SpawnedServer, spawnServer } from '../spawnServer.ts'
import type { Cluster } from './cluster.ts'

/** Two instances of the service on the cluster, and a wallet with tokens. */
export interface Instances extends AsyncDisposable {
  readonly payer: Payer
  readonly servers: readonly SpawnedServer[]
  /** The instances in turn. */
  baseUrl(): string
}

const slotMs = 40

export async function openInstances(cluster: Cluster, requiresStandby: boolean): Promise<Instances> {
  await using opened = new AsyncDisposableStack()
  const { directory } = cluster
  await migrate({ databaseUrl: cluster.databaseUrl('tollbook_owner') })
  const chain = await spawnLocalChain({ slotMs, log: silentLog })
  opened.defer(() => chain.stop())
  const wallets = await provisionWallets(chain)
  const runsFile = `${directory}/runs`
  await writeFile(runsFile, '')
  const receiptKey = JSON.stringify(makeReceiptKey())
  const start = (number: number) =>
    spawnServer({
      runsFile,
      env: {
        PORT: '0',
        HOST: '127.0.0.1',
        LOG_LEVEL: 'fatal',
        DATABASE_URL: cluster.databaseUrl(`tollbook_api_${number}`),
        REQUIRE_SYNCHRONOUS_STANDBY: requiresStandby ? '1' : '0',
        CHECKPOINT_FILE: `${directory}/checkpoint-${number}`,
        SOLANA_RPC_URLS: chain.rpcUrl,
        TOKEN_MINT: wallets.mint.publicKey.toBase58(),
        PAYMENT_WALLET: wallets.paymentWallet.publicKey.toBase58(),
        RENDER_CONCURRENCY: '0',
        NEWS_POLLING: '0',
        PROVIDER_PROBES: '0',
        ARTIFACT_DIR: `${directory}/artifacts-${number}`,
        RECEIPT_SIGNING_KEY: receiptKey,
      },
    })
  const servers = [await start(1), await start(2)]
  for (const server of servers) opened.defer(() => server.stop())
  const payer = createPayer({ rpcUrl: chain.rpcUrl, wallet: wallets.demoWallet })
  let turn = 0
  const disposables = opened.move()
  return {
    payer,
    servers,
    baseUrl: () => assertPresent(servers[turn++ % servers.length], 'there are two instances').baseUrl,
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  }
}
