import type { Figures } from './agreement/figures.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Log } from '../machine/log.ts'
import type { PaceLimit } from '../outbound/pace.ts'
import type { UpstreamAccess } from '../outbound/publicUpstream.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'

/** The parts of the process that data products need to reach their providers. */
export interface ProviderDeps extends UpstreamAccess {
  readonly log: Log
  /** False: a provider counts as available until it fails. */
  readonly isProbed: boolean
  /** Counts lookups over all instances. Absent if this instance is the only one. */
  readonly openSharedCount?: OpenSharedCount
}

/** Counts the lookups of all instances at one provider in a minute. */
export interface SharedCount {
  /** Returns false if the limit is used up; the lookup is then not counted. */
  take(): boolean
}

export type OpenSharedCount = (provider: string, perMinute: number) => SharedCount

/** One provider of one kind of answer. Each has its own file, named after the provider. */
export interface Provider<Query, Data> {
  /** Name in `meta.source`, for example `coingecko`. */
  readonly name: string
  /** Undefined if the provider is available; otherwise the reason: a missing key, or a pause after failures. */
  whyUnavailable(): string | undefined
  /** False if the provider certainly does not have such items, so that no request is sent. Absent: it covers all. */
  covers?(query: Query): boolean
  /** Limit of the provider, which callers share. Absent: there is no limit to share. */
  readonly pace?: PaceLimit | undefined
  /** True if a request costs part of a paid or scarce quota. The provider is then probed only if no other answers. */
  readonly isMetered?: boolean
  /** True if its answers contain series that may confirm them. It can then be sold while no other source is ready. */
  readonly hasSeries?: boolean
  /** Throws only `UpstreamFailure`. Applies its own time-out. */
  ask(query: Query): Promise<Observation<Data>>
}

/** One answer of a provider, validated and in our terms. */
export interface Observation<Data> {
  readonly data: Data
  /** The time of the data, by the provider's own timestamp. */
  readonly asOfMs: number
  /**
   * Time at which the data was fetched. Default: now. Earlier if kept data is used, because the provider forbids a new
   * request so soon.
   */
  readonly fetchedAtMs?: number
  /**
   * The parts that are compared with the answers of other providers. Absent for providers whose answers are not
   * compared.
   */
  readonly figures?: Figures
  /** Reason why the answer needs the agreement of another provider before it is sold. */
  readonly doubt?: string
  /** True if the figures continue the series of the same answer, so that no figure was damaged alone. */
  readonly isContinuous?: boolean
  /** Further fields, sold on request. */
  readonly details?: Readonly<Record<string, Json>>
  /** Details for `meta`: the chosen id, the alternatives. */
  readonly detail?: Readonly<Record<string, Json>>
}

/** A source that confirms answers but never has a complete one: an exchange. */
export interface Witness<Query> {
  readonly name: string
  covers(query: Query): boolean
  /** Throws only `UpstreamFailure`. Applies its own time-out. */
  ask(query: Query): Promise<{ readonly figures: Figures; readonly asOfMs?: number }>
}

/** A decimal number in text; undefined for `N/A`, an empty text and other placeholders. */
export function decimalOf(text: string | null | undefined): number | undefined {
  const plain = text?.trim().replace(/^\+/, '') ?? ''
  return /^-?\d{1,20}(\.\d{1,20})?$/.test(plain) ? Number(plain) : undefined
}

/** Returns a figure that can be sold. Providers that lack a figure write zero, null or a negative number. */
export function positive(value: number | null | undefined, field: string): number {
  if (value !== undefined && value !== null && Number.isFinite(value) && value > 0) return value
  throw new UpstreamFailure('incomplete', `${field} is missing, zero or negative`)
}
