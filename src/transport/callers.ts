import { type AdmissionOptions, createAdmission } from './admission.ts'
import { type CallerLimitConfig, createCallerLimits } from './callerLimits.ts'
import { addressList } from './clientAddress.ts'
import type { Metrics } from './metrics.ts'
import type { LookupCounts } from './lookupCounts.ts'
import { sharedCountsOf } from './rateLimit.ts'
import { type ShareRatesDeps, startRateSharing } from './shareRates.ts'
import { uploadBytesMax } from '../product/productFacts.ts'
import { createUploads } from './uploads.ts'

export type Callers = ReturnType<typeof openCallers>

export interface CallerConfig {
  /**
   * Number of proxies of the operator in front of the service. Earlier addresses in `X-Forwarded-For` are ignored,
   * because clients can invent them.
   */
  readonly trustedProxyHops: number
  readonly limits: CallerLimitConfig
  readonly metricsSubnets: readonly string[]
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
}

// A body stays in memory from its first byte until its answer is sent.
const uploadLimits = { bytesMax: 64 * 1024 * 1024, bytesPerAddressMax: uploadBytesMax }

export interface CallerDeps extends Omit<ShareRatesDeps, 'shareRates'>, Pick<AdmissionOptions, 'load'> {
  readonly ledger: Pick<ShareRatesDeps, 'shareRates'>
  readonly metrics: Pick<Metrics, 'onLimited'>
  /** All instances share these counts, as they share the counts of requests. */
  readonly lookups: LookupCounts
}

export function openCallers(config: CallerConfig, deps: CallerDeps) {
  const { clock, log, ledger, metrics, lookups, load } = deps
  const { trustedProxyHops, metricsSubnets, connectionsMax } = config
  const mayReadMetrics = addressList(metricsSubnets)
  const admission = createAdmission({ now: () => clock.monotonicMs(), load })
  const limits = createCallerLimits(config.limits, {
    nowMs: () => clock.nowMs(),
    onLimited: (limit) => metrics.onLimited(limit),
  })
  const sharing = startRateSharing({ clock, log, shareRates: ledger.shareRates }, sharedCountsOf([limits, lookups]))
  return {
    admission,
    uploads: createUploads(uploadLimits),
    connectionLimits: {
      connectionsMax,
      // The connections of a proxy serve many clients, and the proxy limits its clients itself.
      connectionsPerAddressMax: trustedProxyHops > 0 ? Infinity : config.connectionsPerAddressMax,
    },
    limits,
    trustedProxyHops,
    mayReadMetrics,
    async close(): Promise<void> {
      await sharing.stop()
      admission.close()
    },
  }
}
