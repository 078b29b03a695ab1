import type { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../../primitives/log.ts'
import type { PaceLimit } from '../../outbound/pace.ts'
import type { Reply, Upstream, UpstreamOptions } from '../../outbound/upstream.ts'
import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import type { UpstreamSetting, UpstreamSettings } from '../../outbound/upstreamName.ts'

/** What every data endpoint needs to reach its providers. */
export interface ProviderDeps {
  readonly clock: Clock
  readonly log: Log
  readonly upstreams: UpstreamSettings
  /** The upstreams are the loopback samples of local mode; `meta.source` says so. */
  readonly sampleUpstreams: boolean
  readonly openUpstream: (options: UpstreamOptions) => Upstream
}

/** One upstream as a source of one kind of answer. One file each, named after it. */
export interface Provider<Query, Data> {
  /** As it stands in `meta.source`, for example `coingecko`. */
  readonly name: string
  /** What its terms ask of us and of our callers, for docs/providers.md. */
  readonly licence: string
  /** Undefined when it can be asked now; otherwise why not: no key, or left alone after failures. */
  whyUnavailable(): string | undefined
  /** Throws `UpstreamFailure` and nothing else that is not a bug. Has its own time-out. */
  ask(query: Query): Promise<Observation<Data>>
}

export interface Observation<Data> {
  readonly data: Data
  /** When it was true, by the provider's word. */
  readonly asOfMs: number
  /** When the provider was asked, if it was not now: some forbid to be asked again before a time of theirs. */
  readonly fetchedAtMs?: number
  /** More for `meta`: which id was meant, what else it could have been. */
  readonly detail?: Readonly<Record<string, Json>>
}

/** The JSON of a reply in the shape that the adapter relies on; anything else is a failure of the provider. */
export function readJson<T>(reply: Reply, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(parseJson(reply))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UpstreamFailure('bad_payload', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unreadable'}`)
}

/** Any JSON, for adapters that have to look at an error in the body first. */
export function parseJson({ text, status }: Reply): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Without the cause: it quotes the body, and bodies do not belong into logs.
    throw new UpstreamFailure('bad_payload', `no JSON under HTTP ${status}`)
  }
}

/** An error that a provider wrote into the body, under whatever status; undefined when there is none. */
export function errorIn<T>(reply: Reply, schema: z.ZodType<T>): T | undefined {
  return reply.text.trimStart().startsWith('{') ? schema.safeParse(parseJson(reply)).data : undefined
}

/**
 * Throws for a status that is an error whoever says it. Adapters call it after looking at the body, because many an error
 * comes under 200. Where nobody is said to be unknown by a status, a 404 is an address that leads nowhere: `bad_payload`.
 */
export function refuseStatus(reply: Reply, on404: 'not_found' | 'bad_payload' = 'not_found'): void {
  const { status } = reply
  refuseAccess(reply)
  if (status === 404) throw new UpstreamFailure(on404, 'HTTP 404')
  if (status < 200 || status > 299) throw new UpstreamFailure('bad_payload', `HTTP ${status}`)
}

/** The part of it that holds whatever the body says: they will not have us. */
export function refuseAccess({ status }: Reply): void {
  if (status === 401 || status === 402) throw new UpstreamFailure('auth', `key, plan or quota: HTTP ${status}`)
  if (status === 403 || status === 451) throw new UpstreamFailure('blocked', `refused us: HTTP ${status}`)
}

// A relay, a stand-in or a paid plan has another limit than the public address. This one only keeps us from flooding it.
const ownAddressPace: PaceLimit = { requests: 300, perSeconds: 60 }

/** The published limit of the public address, unless the operator names another address. */
export function paceOf(setting: UpstreamSetting | undefined, publicPace: PaceLimit): PaceLimit {
  return setting?.url === undefined ? publicPace : ownAddressPace
}

/** A decimal number that came as text; undefined for `N/A`, an empty text, and whatever else stands for nothing. */
export function decimalOf(text: string | null | undefined): number | undefined {
  const plain = text?.trim().replace(/^\+/, '') ?? ''
  return /^-?\d{1,20}(\.\d{1,20})?$/.test(plain) ? Number(plain) : undefined
}

/** A figure that is sold. Zero, nothing and less than nothing are how providers say that they have none. */
export function positive(value: number | null | undefined, field: string): number {
  if (value !== undefined && value !== null && Number.isFinite(value) && value > 0) return value
  throw new UpstreamFailure('incomplete', `${field} is missing, zero or negative`)
}
