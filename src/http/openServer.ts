import { addressList } from './clientAddress.ts'
import { createAdmission } from './admission.ts'
import { type AppDeps, createApp } from './app.ts'
import { createFreeRoutes, type FreeRoute, type FreeRouteDeps } from './freeRoutes.ts'
import { createRateLimit } from './rateLimit.ts'
import { listen } from './server.ts'

export interface ServerOptions
  extends Omit<AppDeps, 'admission' | 'rateLimit' | 'freeRoutes'>, Omit<FreeRouteDeps, 'mayReadMetrics'> {
  readonly host: string
  readonly port: number
  readonly inFlightMax: number
  readonly rateLimitPerMinute: number
  readonly metricsSubnets: readonly string[]
  /** Free routes of parts that have their own. */
  readonly moreRoutes: readonly FreeRoute[]
}

export interface OpenServer {
  readonly port: number
  drain(options: { readonly timeoutMs: number }): Promise<void>
}

export async function openServer(options: ServerOptions): Promise<OpenServer> {
  const { clock, host, port } = options
  const admission = createAdmission(options)
  const rateLimit = createRateLimit(options.rateLimitPerMinute)
  const ownRoutes = createFreeRoutes({ ...options, mayReadMetrics: addressList(options.metricsSubnets) })
  const freeRoutes = [...ownRoutes, ...options.moreRoutes]
  const app = createApp({ ...options, admission, rateLimit, freeRoutes })
  const listener = await listen(app.callback(), { host, port })
  return {
    port: listener.port,
    async drain({ timeoutMs }) {
      await listener.drain({ timeoutMs, clock, inFlight: admission.inFlight })
      admission.close()
    },
  }
}
