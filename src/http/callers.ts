import { type Admission, createAdmission } from './admission.ts'
import { type CallerLimits, type CallerLimitSettings, createCallerLimits } from './callerLimits.ts'
import { addressList } from './clientAddress.ts'
import type { Metrics } from './metrics.ts'
import { type ShareRatesDeps, startRateSharing } from './shareRates.ts'

/** Limits on requests, and the rights of client addresses. */
export interface Callers {
  readonly admission: Admission
  readonly limits: CallerLimits
  /** Number of the operator's proxies in front; further addresses of `X-Forwarded-For` are not believed. */
  readonly trustedProxyHops: number
  readonly mayReadMetrics: (address: string) => boolean
  close(): Promise<void>
}

export interface CallerSettings {
  readonly trustedProxyHops: number
  readonly limits: CallerLimitSettings
  readonly metricsSubnets: readonly string[]
}

// Enough for hundreds of callers who wait for a chain, few enough to fit into memory with the largest bodies.
const inFlightMax = 1_000

export interface CallerDeps extends Omit<ShareRatesDeps, 'shareRates'> {
  readonly ledger: Pick<ShareRatesDeps, 'shareRates'>
  readonly metrics: Pick<Metrics, 'onLimited'>
}

export function openCallers(
  { trustedProxyHops, limits, metricsSubnets }: CallerSettings,
  { clock, log, ledger, metrics }: CallerDeps,
): Callers {
  const admission = createAdmission({ inFlightMax })
  const callerLimits = createCallerLimits(limits, {
    nowMs: () => clock.nowMs(),
    onLimited: (limit) => metrics.onLimited(limit),
  })
  const sharing = startRateSharing({ clock, log, shareRates: ledger.shareRates }, callerLimits)
  return {
    admission,
    limits: callerLimits,
    trustedProxyHops,
    mayReadMetrics: addressList(metricsSubnets),
    async close() {
      await sharing.stop()
      admission.close()
    },
  }
}
