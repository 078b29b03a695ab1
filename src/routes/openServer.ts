import { type AppDeps, createApp } from '../transport/app.ts'
import { burnRoute, type BurnRouteDeps } from './burnRoute.ts'
import type { Callers } from '../transport/callers.ts'
import { createConnections } from '../transport/connections.ts'
import { createDocumentRoutes, type DocumentRouteDeps } from './documentRoutes.ts'
import type { FreeRoute } from '../transport/freeRoute.ts'
import { collectMetrics, createFreeRoutes, type FreeRouteDeps, readiness } from './freeRoutes.ts'
import { type HealthListener, openHealthListener } from '../transport/healthListener.ts'
import { escapeText } from '../document/markup.ts'
import { createBurnPage, createFinancePage, createPageFiles } from '../pages/pages.ts'
import { createMcp } from '../mcp/mcpProtocol.ts'
import { createPayRoutes, type PayRouteDeps } from './payRoutes.ts'
import type { Sales } from '../paywall/sales.ts'
import { reportOptions } from './reportOptions.ts'
import { receiptRoute } from './receiptRoute.ts'
import { type Listener, listen } from '../transport/server.ts'
import { createTurns } from '../transport/turns.ts'
import { createUnreadAnswers } from '../transport/unreadAnswers.ts'

export interface ServerDeps
  extends
    Omit<
      AppDeps,
      keyof Callers | 'sales' | 'connections' | 'freeRoutes' | 'crossOriginPaths' | 'paymentPage' | 'messages'
    >,
    Omit<FreeRouteDeps, 'mayReadMetrics'>,
    Pick<DocumentRouteDeps, 'address' | 'terms' | 'split' | 'token' | 'seller' | 'dollars' | 'searches'>,
    BurnRouteDeps {
  readonly callers: Callers
  readonly sales: Sales
  readonly wallets: PayRouteDeps['wallets']
  readonly moreRoutes: readonly FreeRoute[]
  readonly finance: FinanceServing | undefined
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
  /** Names of the environment variables that contain this address, for error messages. */
  readonly variables?: string
}

export interface ListenAddresses extends ListenAddress {
  /**
   * Address of a separate listener for health checks and metrics, which traffic on the public listeners cannot block.
   * Undefined: there is no separate listener.
   */
  readonly health: HealthAddress | undefined
}

export interface HealthAddress extends ListenAddress {
  readonly metricsSubnets: readonly string[]
}

/** Routes of the finance API. They need a token of the operator's identity provider. */
export interface FinanceServing {
  readonly routes: readonly FreeRoute[]
  /**
   * Address of a separate listener, so that the reports cannot be reached on the public listener. Undefined: both share
   * the public listener.
   */
  readonly listener: ListenAddress | undefined
}

/**
 * Opens the public listener, and those for finance and health if they are configured. Rejects if an address or a port
 * cannot be used.
 */
export async function openServer(addresses: ListenAddresses, deps: ServerDeps) {
  const { clock, finance, callers } = deps
  const sellerMarkup = escapeText(deps.seller.name)
  const financeRoutes =
    finance === undefined ? [] : [...finance.routes, ...(await createFinancePage(sellerMarkup, reportOptions()))]
  const isApart = finance?.listener !== undefined
  const servedWith = (endpoints: ServerDeps['endpoints']) =>
    servedRoutes({ ...deps, endpoints }, isApart ? [] : financeRoutes)
  const listeners: Listener[] = []
  let healthListener: HealthListener | undefined
  const drain = async (timeoutMs: number) => {
    healthListener?.report()
    await Promise.all(listeners.map((each) => each.drain({ timeoutMs, clock, inFlight: callers.admission.inFlight })))
    // Close the health listener last, because an orchestrator checks it until the requests in progress are answered.
    await healthListener?.close()
  }
  const open = async (address: ListenAddress, served: ServedRoutes) => {
    const opened = await openListener(address, { ...deps, ...served })
    listeners.push(opened.listener)
    return { port: opened.listener.port, serve: opened.serve }
  }
  try {
    const main = await open(addresses, await servedWith(deps.endpoints))
    const { port } = main
    const apart = isApart
      ? await open({ ...finance.listener, variables: financeAddress }, { endpoints: [], freeRoutes: financeRoutes })
      : main
    const { health } = addresses
    healthListener = health && (await openHealthOf(health, deps))
    return {
      port,
      financePort: finance === undefined ? undefined : apart.port,
      healthPort: healthListener?.port,
      /**
       * Serves these products from the next request on, and describes them in the documents. Requests in progress keep
       * their product.
       */
      replaceEndpoints: async (next: ServerDeps['endpoints']) => main.serve(await servedWith(next)),
      /**
       * Stops accepting connections, and closes each one when its requests are answered. Closes the remaining
       * connections after `timeoutMs`.
       */
      drain: ({ timeoutMs }: { readonly timeoutMs: number }) => drain(timeoutMs),
    }
  } catch (error) {
    await drain(0)
    throw error
  }
}

async function servedRoutes(deps: ServerDeps, financeRoutes: readonly FreeRoute[]): Promise<ServedRoutes> {
  const { endpoints, callers } = deps
  const pay = createPayRoutes(deps)
  const dollarsNote = deps.dollars.map(({ description }) => ` ${description}`).join('')
  const otherRoutes = [
    ...createFreeRoutes({ ...deps, mayReadMetrics: callers.mayReadMetrics }),
    receiptRoute(deps),
    burnRoute(deps),
    ...deps.moreRoutes,
    await createBurnPage(escapeText(deps.seller.name), escapeText(dollarsNote)),
    await createPageFiles(),
    ...pay.routes,
  ]
  const freeRoutes = [...otherRoutes, ...createDocumentRoutes({ ...deps, otherRoutes })]
  return {
    endpoints,
    freeRoutes: [...freeRoutes, ...financeRoutes],
    // Let pages of other origins read all free routes except metrics, because metrics show load and failures. The list
    // does not contain the finance routes.
    crossOriginPaths: freeRoutes.map(({ path }) => path).filter((path) => path !== '/metrics'),
    paymentPage: pay.paymentPage,
    messages: [createMcp({ ...deps, freeRoutes })],
  }
}

function openHealthOf(address: HealthAddress, deps: ServerDeps): Promise<HealthListener> {
  return openHealthListener(address, {
    log: deps.log,
    readiness: () => readiness(deps),
    metrics: () => collectMetrics(deps),
  })
}

const financeAddress = 'FINANCE_HOST, FINANCE_PORT'

// Milliseconds without progress after which a connection is closed, because even a slow client reads some bytes within
// this time.
const unreadIdleMs = 20_000
const unreadBytesMax = 64 * 1024 * 1024

type ServedRoutes = Pick<AppDeps, 'endpoints' | 'freeRoutes' | 'crossOriginPaths' | 'paymentPage' | 'messages'>
type ListenerDeps = Omit<ServerDeps, 'endpoints'> & ServedRoutes

async function openListener(address: ListenAddress, { callers, ...deps }: ListenerDeps) {
  // Limit connections per client only if the service faces its clients directly, because a proxy's connections carry
  // many clients. A listener that sells nothing serves only the operator.
  const hasClients = callers.trustedProxyHops === 0 && deps.endpoints.length > 0
  const { turnsAway, restSeconds } = callers.admission
  const connections = createConnections(callers.connectionLimits, {
    turnsAway: hasClients ? turnsAway : () => false,
    restSeconds,
  })
  const unread = createUnreadAnswers({ idleMs: unreadIdleMs, bytesMax: unreadBytesMax })
  const appOf = (served: ServedRoutes) => createApp({ ...deps, ...callers, ...served, connections })
  let app = appOf(deps)
  const turns = createTurns({
    serve: (request, response) => app(request, response),
    unread,
    rests: callers.trustedProxyHops === 0,
  })
  const listener = await listen(turns.onRequest, {
    ...address,
    takes: connections.take,
    onConnection: turns.onConnection,
    whenAnswered: turns.whenAnswered,
  })
  return {
    listener,
    serve(served: ServedRoutes) {
      app = appOf(served)
    },
  }
}
