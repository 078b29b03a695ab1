import packageJson from '../../package.json' with { type: 'json' }
import type { ServerSettings } from '../config/serverSettings.ts'
import { openServer, type ServerDeps } from '../http/openServer.ts'
import type { Health } from './health.ts'
import type { Prices } from './prices.ts'
import type { ReceiptKeys } from './openReceiptKeys.ts'
import type { Paywall } from '../paywall/paywall.ts'
import { openWalletPayments, type WalletPaymentParts } from './openWalletPayments.ts'
import type { ServiceAddress } from './serviceAddress.ts'
import type { PartDeps } from './partDeps.ts'

export interface ListenerDeps
  extends PartDeps, Pick<ServerDeps, 'callers' | 'endpoints' | 'finance' | 'burnStats' | 'burnOf' | 'terms' | 'split'> {
  readonly routes: ServerDeps['moreRoutes']
  readonly paywall: Paywall
  readonly wallets: Omit<WalletPaymentParts, 'clock' | 'paywall' | 'split'>
  readonly address: ServiceAddress
  readonly health: Health
  readonly keys: Pick<ReceiptKeys, 'published' | 'didDocument'>
  readonly prices: Pick<Prices, 'tokenPrice'>
}

export interface HttpListener {
  readonly port: number
  /** Undefined when the finance reports are not served. */
  readonly financePort: number | undefined
  /** Undefined without a separate listener for health. */
  readonly healthPort: number | undefined
  /** Stops accepting requests and answers those in progress. */
  close(): Promise<void>
}

const drainTimeoutMs = 35_000

/** HTTP, opened last: from here on the service is reachable. */
export async function openListener(settings: ServerSettings, deps: ListenerDeps): Promise<HttpListener> {
  const { health, prices, keys } = deps
  const { host, port, metricsSubnets } = settings
  const healthAddress = settings.health && { ...settings.health, metricsSubnets }
  deps.metrics.showChecks(health.checks)
  const server = await openServer(
    { host, port, health: healthAddress },
    {
      callers: deps.callers,
      publicUrl: deps.address.publicUrl,
      clock: deps.clock,
      log: deps.log,
      metrics: deps.metrics,
      version: packageJson.version,
      endpoints: deps.endpoints,
      moreRoutes: deps.routes,
      finance: deps.finance,
      isDraining: health.isDraining,
      checks: health.checks,
      receiptKeys: keys.published,
      didDocument: () => keys.didDocument(deps.address.url()),
      tokenPrice: prices.tokenPrice,
      burnStats: deps.burnStats,
      burnOf: deps.burnOf,
      paywall: deps.paywall,
      wallets: openWalletPayments({ ...deps, ...deps.wallets }),
      terms: deps.terms,
      split: deps.split,
    },
  )
  deps.address.listensOn(server.port)
  return {
    port: server.port,
    financePort: server.financePort,
    healthPort: server.healthPort,
    close() {
      health.startDraining()
      return server.drain({ timeoutMs: drainTimeoutMs })
    },
  }
}
