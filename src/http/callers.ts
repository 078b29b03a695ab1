import type { Clock } from '@tollbook/core/clock'
import { type Admission, createAdmission } from './admission.ts'
import { addressList } from './clientAddress.ts'
import type { ConnectionLimits } from './connections.ts'
import { createRateLimit, type RateLimit } from './rateLimit.ts'
import { createUploads, type Uploads } from './uploads.ts'

/** Limits on requests, and the rights of client addresses. */
export interface Callers {
  readonly admission: Admission
  readonly uploads: Uploads
  readonly connectionLimits: ConnectionLimits
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
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
}

// The largest body has 1 MiB. A body is held from its first byte until its answer has been sent.
const uploadLimits = { bytesMax: 64 * 1024 * 1024, bytesPerAddressMax: 16 * 1024 * 1024 }

export function openCallers(settings: CallerSettings, clock: Clock): Callers {
  const { trustedProxyHops, rateLimitPerMinute, metricsSubnets, connectionsMax } = settings
  const admission = createAdmission({ now: () => clock.monotonicMs() })
  return {
    admission,
    uploads: createUploads(uploadLimits),
    connectionLimits: {
      connectionsMax,
      // A proxy's connections carry many clients; the proxy limits them itself.
      connectionsPerAddressMax: trustedProxyHops > 0 ? Infinity : settings.connectionsPerAddressMax,
    },
    rateLimit: createRateLimit(rateLimitPerMinute),
    trustedProxyHops,
    mayReadMetrics: addressList(metricsSubnets),
    async close() {
      admission.close()
    },
  }
}
