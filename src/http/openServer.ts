import { type AppDeps, createApp } from './app.ts'
import type { Callers } from './callers.ts'
import { createDocumentRoutes, type DocumentRouteDeps } from './documentRoutes.ts'
import { createFreeRoutes, type FreeRoute, type FreeRouteDeps } from './freeRoutes.ts'
import { createBurnPage, createFinancePage } from './pages.ts'
import { receiptRoute } from './receiptRoute.ts'
import { listen } from './server.ts'

export interface ServerDeps
  extends Omit<AppDeps, keyof Callers | 'freeRoutes' | 'crossOriginPaths'>, Omit<FreeRouteDeps, 'mayReadMetrics'> {
  readonly callers: Callers
  readonly publicUrl: string | undefined
  readonly terms: DocumentRouteDeps['terms']
  readonly split: DocumentRouteDeps['split']
  /** Free routes of other parts, in addition to those of the service itself. */
  readonly moreRoutes: readonly FreeRoute[]
  readonly finance: FinanceServing | undefined
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** The finance reports, for holders of a token. */
export interface FinanceServing {
  readonly routes: readonly FreeRoute[]
  /** A separate listener keeps the reports off the public one. Undefined: both share one. */
  readonly listener: ListenAddress | undefined
}

export interface OpenServer {
  readonly port: number
  /** Undefined when the reports are not served. */
  readonly financePort: number | undefined
  drain(options: { readonly timeoutMs: number }): Promise<void>
}

export async function openServer({ host, port }: ListenAddress, deps: ServerDeps): Promise<OpenServer> {
  const { clock, finance, callers } = deps
  const { admission, mayReadMetrics } = callers
  const financeRoutes = finance === undefined ? [] : [...finance.routes, ...(await createFinancePage())]
  const besides = [
    ...createFreeRoutes({ ...deps, mayReadMetrics }),
    receiptRoute({ ...deps.paywall, log: deps.log }),
    ...deps.moreRoutes,
    ...(await createBurnPage()),
  ]
  const freeRoutes = [...besides, ...(await createDocumentRoutes({ ...deps, besides }))]
  const isApart = finance?.listener !== undefined
  const routes = isApart ? freeRoutes : [...freeRoutes, ...financeRoutes]
  // Pages of other origins may not read finance, which is not in this list, nor load and failures.
  const crossOriginPaths = freeRoutes.map(({ path }) => path).filter((path) => path !== '/metrics')
  const app = createApp({ ...deps, ...callers, freeRoutes: routes, crossOriginPaths })
  const listener = await listen(app.callback(), { host, port })
  const apart = isApart
    ? await listen(
        createApp({ ...deps, ...callers, endpoints: [], freeRoutes: financeRoutes }).callback(),
        finance.listener,
      ).catch(async (error: unknown) => {
        await listener.drain({ timeoutMs: 0, clock, inFlight: admission.inFlight })
        throw error
      })
    : undefined
  return {
    port: listener.port,
    financePort: finance === undefined ? undefined : (apart ?? listener).port,
    async drain({ timeoutMs }) {
      const ending = { timeoutMs, clock, inFlight: admission.inFlight }
      await Promise.all([listener.drain(ending), apart?.drain(ending)])
    },
  }
}
