import { addressList } from './clientAddress.ts'
import { createAdmission } from './admission.ts'
import { type AppDeps, createApp } from './app.ts'
import { createDocumentRoutes, type DocumentRouteDeps } from './documentRoutes.ts'
import { createFreeRoutes, type FreeRoute, type FreeRouteDeps } from './freeRoutes.ts'
import { createBurnPage, createFinancePage } from './pages.ts'
import { createRateLimit } from './rateLimit.ts'
import { receiptRoute } from './receiptRoute.ts'
import { listen } from './server.ts'

export interface ServerOptions
  extends Omit<AppDeps, 'admission' | 'rateLimit' | 'freeRoutes'>, Omit<FreeRouteDeps, 'mayReadMetrics'> {
  readonly host: string
  readonly port: number
  readonly publicUrl: string | undefined
  readonly terms: DocumentRouteDeps['terms']
  readonly split: DocumentRouteDeps['split']
  readonly inFlightMax: number
  readonly rateLimitPerMinute: number
  readonly metricsSubnets: readonly string[]
  /** Free routes of other parts, in addition to those of the service itself. */
  readonly moreRoutes: readonly FreeRoute[]
  readonly finance: FinanceServing | undefined
}

/** The finance reports, for holders of a token. */
export interface FinanceServing {
  readonly routes: readonly FreeRoute[]
  /** A separate listener keeps the reports off the public one. Undefined: both share one. */
  readonly listener: { readonly host: string; readonly port: number } | undefined
}

export interface OpenServer {
  readonly port: number
  /** Undefined when the reports are not served. */
  readonly financePort: number | undefined
  drain(options: { readonly timeoutMs: number }): Promise<void>
}

export async function openServer(options: ServerOptions): Promise<OpenServer> {
  const { clock, host, port, finance } = options
  const admission = createAdmission(options)
  const rateLimit = createRateLimit(options.rateLimitPerMinute)
  const mayReadMetrics = addressList(options.metricsSubnets)
  const financeRoutes = finance === undefined ? [] : [...finance.routes, ...(await createFinancePage())]
  const besides = [
    ...createFreeRoutes({ ...options, mayReadMetrics }),
    receiptRoute({ ...options.paywall, log: options.log }),
    ...options.moreRoutes,
    ...(await createBurnPage()),
  ]
  const freeRoutes = [...besides, ...(await createDocumentRoutes({ ...options, besides }))]
  const isApart = finance?.listener !== undefined
  const routes = isApart ? freeRoutes : [...freeRoutes, ...financeRoutes]
  const app = createApp({ ...options, admission, rateLimit, freeRoutes: routes })
  const listener = await listen(app.callback(), { host, port })
  const apart = isApart
    ? await listen(
        createApp({ ...options, endpoints: [], admission, rateLimit, freeRoutes: financeRoutes }).callback(),
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
      admission.close()
    },
  }
}
