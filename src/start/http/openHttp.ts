import packageJson from '../../../package.json' with { type: 'json' }
import type { Chain } from '../../chain/openChain.ts'
import type { CatalogConfig } from '../../config/catalogConfig.ts'
import type { SaleConfig } from '../../config/saleConfig.ts'
import type { LimitConfig, ServerConfig } from '../../config/serverConfig.ts'
import { acceptedDollars } from '../../document/acceptedDollars.ts'
import { openServer, type ServerDeps } from '../../routes/openServer.ts'
import { type CallerDeps, openCallers } from '../../transport/callers.ts'
import type { ListeningAddress } from '../../transport/serviceAddress.ts'
import { closePart } from '../closePart.ts'
import type { Health } from '../jobs/health.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import type { PartDeps } from '../partDeps.ts'
import type { Payments } from '../payments/openPayments.ts'
import type { Products } from '../products/openProducts.ts'

export interface HttpConfig {
  readonly server: ServerConfig
  readonly limits: LimitConfig
  readonly sale: Pick<SaleConfig, 'quoteTtlMs'>
  readonly catalog: Pick<CatalogConfig, 'split' | 'token' | 'seller'>
}

export interface HttpDeps extends PartDeps, Pick<ServerDeps, 'endpoints' | 'moreRoutes' | 'finance'> {
  readonly chain: Pick<Chain, 'terms' | 'dollars'>
  readonly ledger: Pick<LedgerPart, 'keys' | 'burnReads' | 'shareRates'>
  readonly products: Pick<Products, 'searches' | 'tokenPrice'>
  readonly payments: Payments
  readonly health: Health
  readonly address: ListeningAddress
  readonly lookups: CallerDeps['lookups']
  readonly load?: CallerDeps['load']
}

// Maximum number of open connections, each of which takes a file descriptor.
const connectionsMax = 5_000
const connectionsPerAddressMax = 256
// Time for answers in progress after SIGTERM, after which their connections are closed.
const drainTimeoutMs = 35_000

/**
 * Opens the listeners. It is called after all other parts are open, because it makes the service reachable. `close`
 * stops accepting requests and answers those in progress.
 */
export async function openHttp({ server, limits, sale, catalog }: HttpConfig, deps: HttpDeps) {
  const { clock, log, metrics, chain, ledger, payments, lookups, load, health, address } = deps
  const { host, port: callersPort, metricsSubnets } = server
  const { quoteTtlMs } = sale
  const { split, token, seller } = catalog
  const { terms } = chain
  await using opened = new AsyncDisposableStack()
  const bounds = { limits: { ...limits, quoteTtlMs }, connectionsMax, connectionsPerAddressMax }
  const callers = opened.adopt(
    openCallers({ ...server, ...bounds }, { clock, log, metrics, ledger, lookups, load }),
    closePart,
  )
  metrics.showChecks(health.checks)
  address.configure(server)
  const listening = await openServer(
    { host, port: callersPort, health: server.health && { ...server.health, metricsSubnets } },
    {
      clock,
      log,
      metrics,
      ...payments,
      ...ledger.burnReads(terms),
      callers,
      endpoints: deps.endpoints,
      searches: deps.products.searches,
      tokenPrice: deps.products.tokenPrice,
      terms,
      split,
      token,
      seller,
      dollars: acceptedDollars(chain.dollars, { rails: payments.sales.rails, split }),
      moreRoutes: deps.moreRoutes,
      finance: deps.finance,
      address,
      version: packageJson.version,
      receiptKeys: ledger.keys.published,
      didDocument: () => ledger.keys.didDocument(address.url()),
      checks: health.checks,
      isDraining: health.isDraining,
    },
  )
  const { port, financePort, healthPort, replaceEndpoints } = listening
  address.listensOn(port)
  opened.defer(() => {
    health.startDraining()
    return listening.drain({ timeoutMs: drainTimeoutMs })
  })
  const stored = opened.move()
  return { port, financePort, healthPort, replaceEndpoints, close: () => stored.disposeAsync() }
}
