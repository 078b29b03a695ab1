import { z } from 'zod'
import type { Figures } from './agreement/figures.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'
import type { PaceLimit } from './pace.ts'
import type { Reply } from './upstreamRequest.ts'
import type { Upstream, UpstreamOptions } from './upstream.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import { baseUrlOf, type UpstreamName, type UpstreamConfigs } from '../product/upstreamName.ts'

/** The parts of the process that data products need to reach their providers. */
export interface ProviderDeps {
  readonly clock: Clock
  readonly log: Log
  readonly upstreams: UpstreamConfigs
  /** True if the upstreams are the loopback samples of local mode. `meta.source` then says so. */
  readonly sampleUpstreams: boolean
  /** False: a provider counts as available until it fails. */
  readonly isProbed: boolean
  readonly openUpstream: (options: UpstreamOptions) => Upstream
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
  /** Time of the request, if not now: some providers forbid a new request before a given time. */
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

/** Reads the JSON of a reply in the shape that the adapter needs. Any other shape is a failure of the provider. */
export function readJson<T>(reply: Reply, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(parseJson(reply))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UpstreamFailure('bad_payload', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unreadable'}`)
}

/** Reads a list and skips items of another shape, so that one malformed item does not cost the others. */
export function readableItems<T>(item: z.ZodType<T>) {
  return z.array(z.unknown()).transform((items) =>
    items.flatMap((one): T[] => {
      const parsed = item.safeParse(one)
      return parsed.success ? [parsed.data] : []
    }),
  )
}

/** Parses any JSON, for adapters that first check for an error in the body. */
export function parseJson({ text, status }: Reply): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Omit the cause: it quotes the body, and bodies must not reach logs.
    throw new UpstreamFailure('bad_payload', `no JSON under HTTP ${status}`)
  }
}

/** Returns an error in the body, whatever the status; undefined if there is none. */
export function errorIn<T>(reply: Reply, schema: z.ZodType<T>): T | undefined {
  return reply.text.trimStart().startsWith('{') ? schema.safeParse(parseJson(reply)).data : undefined
}

/**
 * Throws for statuses that are errors at every provider. Adapters call it after reading the body, because many errors
 * come under 200. For providers that do not use 404 for unknown items, a 404 means a wrong address: `bad_payload`.
 */
export function refuseStatus(reply: Reply, on404: 'not_found' | 'bad_payload' = 'not_found'): void {
  const { status } = reply
  refuseAccess(reply)
  if (status === 404) throw new UpstreamFailure(on404, 'HTTP 404')
  if (status < 200 || status > 299) throw new UpstreamFailure('bad_payload', `HTTP ${status}`)
}

/** Throws for statuses with which a provider refuses access, whatever the body is. */
export function refuseAccess({ status }: Reply): void {
  if (status === 401 || status === 402) throw new UpstreamFailure('auth', `key, plan or quota: HTTP ${status}`)
  if (status === 403 || status === 451) throw new UpstreamFailure('blocked', `refused us: HTTP ${status}`)
}

// Pace for an operator's address. A relay, a replacement or a paid plan has its own limit, so this one only prevents
// flooding.
const ownAddressPace: PaceLimit = { requests: 300, perSeconds: 60 }

/** Opens a provider at its public address with its published limit, or at the operator's address. */
export function openUpstreamOf(
  { upstreams, openUpstream }: Pick<ProviderDeps, 'upstreams' | 'openUpstream'>,
  setting: UpstreamName,
  { publicBase, pace, ...options }: Omit<UpstreamOptions, 'base' | 'pace'> & PublicAddress,
): Upstream {
  const own = upstreams[setting]
  return openUpstream({
    ...options,
    base: baseUrlOf(own, publicBase),
    pace: own?.url === undefined ? pace : ownAddressPace,
  })
}

interface PublicAddress {
  readonly publicBase: string
  /** The published limit of that address, or less. */
  readonly pace: PaceLimit
}

/** Returns the members of a provider that its upstream supplies. */
export function ofUpstream({ name, pace, whyResting }: Upstream) {
  return { name, pace, whyUnavailable: whyResting }
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
