import { type Admission, createAdmission } from './admission.ts'
import { addressList } from './clientAddress.ts'
import { createRateLimit, type RateLimit } from './rateLimit.ts'

/** Limits on requests, and the rights of client addresses. */
export interface Callers {
  readonly admission: Admission
  readonly rateLimit: RateLimit
  /** Number of the operator's proxies in front; further addresses of `X-Forwarded-For` are not believed. */
  readonly trustedProxyHops: number
  readonly mayReadMetrics: (address: string) => boolean
  close(): Promise<void>
}

export interface CallerSettings {
  readonly trustedProxyHops: number
  readonly rateLimitPerMinute: number
  readonly metricsSubnets: readonly string[]
}

// Enough for hundreds of callers who wait for a chain, few enough to fit into memory with the largest bodies.
const inFlightMax = 1_000

export function openCallers({ trustedProxyHops, rateLimitPerMinute, metricsSubnets }: CallerSettings): Callers {
  const admission = createAdmission({ inFlightMax })
  return {
    admission,
    rateLimit: createRateLimit(rateLimitPerMinute),
    trustedProxyHops,
    mayReadMetrics: addressList(metricsSubnets),
    async close() {
      admission.close()
    },
  }
}
