import packageJson from '../../../package.json' with { type: 'json' }
import type { LimitConfig } from '../../config/serverConfig.ts'
import type { ServerConfig } from '../../config/serverConfig.ts'
import { type CallerDeps, openCallers } from '../../transport/callers.ts'
import { openServer, type ServerDeps } from '../../routes/openServer.ts'
import type { ListeningAddress } from '../../transport/serviceAddress.ts'
import { closePart } from '../closePart.ts'
import type { Health } from '../jobs/health.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import type { PartDeps } from '../partDeps.ts'

export interface HttpConfig {
  readonly server: ServerConfig
  readonly limits: LimitConfig
  readonly quoteTtlMs: number
}

type ServedPorts =
  | 'endpoints'
  | 'searches'
  | 'sales'
  | 'wallets'
  | 'tokenPrice'
  | 'finance'
  | 'terms'
  | 'split'
  | 'token'

export interface HttpDeps extends PartDeps, Pick<ServerDeps, ServedPorts> {
  /** Free routes of the parts, in addition to those of the service itself. */
  readonly routes: ServerDeps['moreRoutes']
  readonly ledger: Pick<LedgerPart, 'keys' | 'burnReads' | 'shareRates'>
  readonly health: Health
  readonly address: ListeningAddress
  readonly lookups: CallerDeps['lookups']
}

export interface Http {
  readonly port: number
  /** Undefined when the finance reports are not served. */
  readonly financePort: number | undefined
  /** Undefined without a separate listener for health. */
  readonly healthPort: number | undefined
  /** Stops accepting requests and answers those in progress. */
  close(): Promise<void>
}

// Below `ulimit -n`.
const connectionsMax = 5_000
const connectionsPerAddressMax = 256

const drainTimeoutMs = 35_000

/** Opened last: from here on the service is reachable. */
export async function openHttp({ server, limits, quoteTtlMs }: HttpConfig, deps: HttpDeps): Promise<Http> {
  const { clock, log, metrics, ledger, health, address, lookups, terms } = deps
  const { keys } = ledger
  await using opened = new AsyncDisposableStack()
  const bounds = { limits: { ...limits, quoteTtlMs }, connectionsMax, connectionsPerAddressMax }
  const callers = opened.adopt(
    openCallers({ ...server, ...bounds }, { clock, log, metrics, ledger, lookups }),
    closePart,
  )
  const { host, port: callersPort, metricsSubnets } = server
  const healthAddress = server.health && { ...server.health, metricsSubnets }
  metrics.showChecks(health.checks)
  address.configure(server)
  const listening = await openServer(
    { host, port: callersPort, health: healthAddress },
    {
      clock,
      log,
      metrics,
      callers,
      terms,
      split: deps.split,
      token: deps.token,
      endpoints: deps.endpoints,
      searches: deps.searches,
      moreRoutes: deps.routes,
      finance: deps.finance,
      version: packageJson.version,
      address,
      sales: deps.sales,
      wallets: deps.wallets,
      tokenPrice: deps.tokenPrice,
      receiptKeys: keys.published,
      didDocument: () => keys.didDocument(address.url()),
      ...ledger.burnReads(terms),
      checks: health.checks,
      isDraining: health.isDraining,
    },
  )
  const { port, financePort, healthPort } = listening
  address.listensOn(port)
  opened.defer(() => {
    health.startDraining()
    return listening.drain({ timeoutMs: drainTimeoutMs })
  })
  const stored = opened.move()
  return { port, financePort, healthPort, close: () => stored.disposeAsync() }
}
