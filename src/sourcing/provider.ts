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
  /** The upstreams are the loopback samples of local mode; `meta.source` says so. */
  readonly sampleUpstreams: boolean
  /** False: a provider counts as available until it fails. */
  readonly isProbed: boolean
  readonly openUpstream: (options: UpstreamOptions) => Upstream
  /** Counts lookups over all instances. Absent: this instance is the only one. */
  readonly openSharedCount?: OpenSharedCount
}

/** Lookups of all instances at one provider in a minute. */
export interface SharedCount {
  /** False when they have used the limit; nothing is counted then. */
  take(): boolean
}

export type OpenSharedCount = (provider: string, perMinute: number) => SharedCount

/** One provider of one kind of answer. One file each, named after the provider. */
export interface Provider<Query, Data> {
  /** Name in `meta.source`, for example `coingecko`. */
  readonly name: string
  /** Undefined when it can be asked now; otherwise the reason: a missing key, or a pause after failures. */
  whyUnavailable(): string | undefined
  /** False when the provider certainly does not serve such items, so that it need not be asked. Absent: it serves all. */
  covers?(query: Query): boolean
  /** Limit of the provider, which callers share. Absent: it is not shared. */
  readonly pace?: PaceLimit | undefined
  /** A request costs part of a paid or scarce quota, so the provider is probed only when no other answers. */
  readonly isMetered?: boolean
  /** Its answers have series that may confirm them, so that it can be sold while no other source is ready. */
  readonly hasSeries?: boolean
  /** Throws only `UpstreamFailure`. Has its own time-out. */
  ask(query: Query): Promise<Observation<Data>>
}

/** One answer of a provider, checked and in our terms. */
export interface Observation<Data> {
  readonly data: Data
  /** The time of the data, by the provider's own timestamp. */
  readonly asOfMs: number
  /** The time of the request, if it was not now: some providers forbid a new request before a given time. */
  readonly fetchedAtMs?: number
  /** The parts that are compared with other providers' answers. Providers whose answers are not compared leave it out. */
  readonly figures?: Figures
  /** Reason why the answer is sold only if another provider agrees. */
  readonly doubt?: string
  /** The figures continue the series of the same answer: none of them was damaged alone. */
  readonly isContinuous?: boolean
  /** Further fields, sold on request. */
  readonly details?: Readonly<Record<string, Json>>
  /** Details for `meta`: the chosen id, the alternatives. */
  readonly detail?: Readonly<Record<string, Json>>
}

/** A source that confirms answers and has no complete one: an exchange. */
export interface Witness<Query> {
  readonly name: string
  covers(query: Query): boolean
  /** Throws only `UpstreamFailure`. Has its own time-out. */
  ask(query: Query): Promise<{ readonly figures: Figures; readonly asOfMs?: number }>
}

/** The JSON of a reply in the shape that the adapter needs. Any other shape is a failure of the provider. */
export function readJson<T>(reply: Reply, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(parseJson(reply))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UpstreamFailure('bad_payload', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unreadable'}`)
}

/** A list without the items of another shape: one malformed item must not cost the others. */
export function readableItems<T>(item: z.ZodType<T>) {
  return z.array(z.unknown()).transform((items) =>
    items.flatMap((one): T[] => {
      const parsed = item.safeParse(one)
      return parsed.success ? [parsed.data] : []
    }),
  )
}

/** Any JSON, for adapters that first check the body for an error. */
export function parseJson({ text, status }: Reply): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The cause is left out: it quotes the body, and bodies must not reach logs.
    throw new UpstreamFailure('bad_payload', `no JSON under HTTP ${status}`)
  }
}

/** An error in the body, under any status; undefined when there is none. */
export function errorIn<T>(reply: Reply, schema: z.ZodType<T>): T | undefined {
  return reply.text.trimStart().startsWith('{') ? schema.safeParse(parseJson(reply)).data : undefined
}

/**
 * Throws for statuses that are errors at every provider. Adapters call it after reading the body, because many errors come
 * under 200. For providers that do not use 404 for unknown items, a 404 is a wrong address: `bad_payload`.
 */
export function refuseStatus(reply: Reply, on404: 'not_found' | 'bad_payload' = 'not_found'): void {
  const { status } = reply
  refuseAccess(reply)
  if (status === 404) throw new UpstreamFailure(on404, 'HTTP 404')
  if (status < 200 || status > 299) throw new UpstreamFailure('bad_payload', `HTTP ${status}`)
}

/** The statuses with which a provider refuses access, whatever the body says. */
export function refuseAccess({ status }: Reply): void {
  if (status === 401 || status === 402) throw new UpstreamFailure('auth', `key, plan or quota: HTTP ${status}`)
  if (status === 403 || status === 451) throw new UpstreamFailure('blocked', `refused us: HTTP ${status}`)
}

// A relay, a replacement or a paid plan has its own limit. This one only protects it from flooding.
const ownAddressPace: PaceLimit = { requests: 300, perSeconds: 60 }

/** Access to a provider at its public address with its published limit, or at the operator's address. */
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

/** The parts of a provider that are those of its upstream. */
export function ofUpstream({ name, pace, whyResting }: Upstream) {
  return { name, pace, whyUnavailable: whyResting }
}

/** A decimal number in text; undefined for `N/A`, an empty text and other placeholders. */
export function decimalOf(text: string | null | undefined): number | undefined {
  const plain = text?.trim().replace(/^\+/, '') ?? ''
  return /^-?\d{1,20}(\.\d{1,20})?$/.test(plain) ? Number(plain) : undefined
}

/** A figure that is sold. Providers write zero, null or a negative number when they have none. */
export function positive(value: number | null | undefined, field: string): number {
  if (value !== undefined && value !== null && Number.isFinite(value) && value > 0) return value
  throw new UpstreamFailure('incomplete', `${field} is missing, zero or negative`)
}
