import type { Figures } from './agreement/figures.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Log } from '../machine/log.ts'
import type { PaceLimit } from '../outbound/pace.ts'
import type { UpstreamAccess } from '../outbound/publicUpstream.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'

export interface ProviderDeps extends UpstreamAccess {
  readonly log: Log
  /** True if providers are probed in the background. False: a provider counts as available until a request fails. */
  readonly isProbed: boolean
  /** Opens a counter of lookups over all instances. Absent: this is the only instance. */
  readonly openSharedCount?: OpenSharedCount
}

export interface SharedCount {
  /** Counts a lookup. Returns false without counting if the limit is used up. */
  take(): boolean
}

export type OpenSharedCount = (provider: string, perMinute: number) => SharedCount

export interface Provider<Query, Data> {
  /** Name that `meta.source` contains, such as `coingecko`. */
  readonly name: string
  /**
   * Returns the reason why the provider cannot be used now: a missing key, or a pause after failures. Undefined:
   * available.
   */
  whyUnavailable(): string | undefined
  /**
   * Returns false if the provider certainly lacks the item, so that no request is sent. Absent: the provider covers all
   * items.
   */
  covers?(query: Query): boolean
  /** Request limit of the provider, which all callers share. Absent: no limit is known. */
  readonly pace?: PaceLimit | undefined
  /** True if a request uses a paid or scarce quota. Such a provider is probed last, at most every 15 minutes. */
  readonly isMetered?: boolean
  /**
   * True if the provider's answers come from a time series, such as a forecast, that can confirm a figure without
   * another source. The service then quotes even while no other source is available.
   */
  readonly hasSeries?: boolean
  /** Requests an answer, with the provider's own time-out. Throws only `UpstreamFailure`. */
  ask(query: Query): Promise<Observation<Data>>
}

/** An answer that is validated, and in the units and terms of this service. */
export interface Observation<Data> {
  readonly data: Data
  /** Time of the data by the provider's own timestamp, in milliseconds since 1970. */
  readonly asOfMs: number
  /**
   * Time at which the data was fetched. Absent: now. Earlier than now if the provider forbids a new request and stored
   * data is used.
   */
  readonly fetchedAtMs?: number
  /**
   * The values that are compared with the answers of other providers. Absent for providers whose answers are not
   * compared.
   */
  readonly figures?: Figures
  /** Reason why another provider must confirm the answer before it is sold. Absent: no doubt. */
  readonly doubt?: string
  /** True if the figures continue the series in the same answer. A single corrupted figure would break the series. */
  readonly isContinuous?: boolean
  /** Further figures, for an order with `details=true`. */
  readonly details?: Readonly<Record<string, Json>>
  /** Further members of the answer's `meta`. */
  readonly meta?: Readonly<Record<string, Json>>
}

/** A source that confirms answers but never has a complete answer, such as an exchange. */
export interface Witness<Query> {
  readonly name: string
  covers(query: Query): boolean
  /** Requests the figures, with the source's own time-out. Throws only `UpstreamFailure`. */
  ask(query: Query): Promise<{ readonly figures: Figures; readonly asOfMs?: number }>
}

/** Undefined for `N/A`, an empty text and other placeholders. */
export function decimalOf(text: string | null | undefined): number | undefined {
  const plain = text?.trim().replace(/^\+/, '') ?? ''
  return /^-?\d{1,20}(\.\d{1,20})?$/.test(plain) ? Number(plain) : undefined
}

/** Throws for a missing, zero or negative number, which providers send for a missing figure. */
export function positive(value: number | null | undefined, field: string): number {
  if (value !== undefined && value !== null && Number.isFinite(value) && value > 0) return value
  throw new UpstreamFailure('incomplete', `${field} is missing, zero or negative`)
}
