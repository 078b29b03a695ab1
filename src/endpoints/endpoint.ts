import type { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import type { PaidPath } from '../pricing/priceList.ts'
import { answers } from './answers.ts'

/** One thing that is sold: what it takes, whether it can be had now, and how it is made. One file each. */
export interface Endpoint {
  readonly path: PaidPath
  readonly method: 'GET' | 'POST'
  readonly summary: string
  /** The same schema validates requests and documents them. For GET its fields are the query's texts. */
  readonly schema: z.ZodType
  /** The shape of `data`, for the document. */
  readonly answer: z.ZodType
  /** Bytes of a POST body. */
  readonly bodyBytesMax: number
  /** Undefined when it can be sold to somebody; otherwise why not, for the caller. */
  whyUnavailable(): string | undefined
  /** Checks raw input against the schema. */
  read(input: unknown): ReadParameters
}

export type ReadParameters =
  | {
      readonly ok: true
      readonly parameters: Json
      /** Undefined when this can be sold now; otherwise why not. Asked before every quote and every claim. */
      readonly whyUnavailable: () => string | undefined
      /** Undefined unless it is known without asking anybody that there is nothing to deliver. */
      readonly whyNoData: () => string | undefined
      readonly deliver: (job: Job) => Promise<Outcome>
    }
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[] }

export interface Job {
  /** Aborted at the deadline of the attempt. */
  readonly signal: AbortSignal
  readonly requestId: string
}

export type Outcome =
  | { readonly kind: 'delivered'; readonly data: Json; readonly meta: Meta }
  | { readonly kind: 'failed'; readonly code: HandlerFailure; readonly message: string }

export type HandlerFailure = 'NO_DATA' | 'UPSTREAM_FAILED' | 'UPSTREAM_TIMEOUT' | 'TARGET_FORBIDDEN'

/** Where the data came from, and of when it is. */
export interface Meta {
  readonly source: string
  readonly asOf: string
  readonly cached: boolean
  readonly [detail: string]: Json
}

export interface EndpointDefinition<P extends Json> {
  readonly path: PaidPath
  readonly method: 'GET' | 'POST'
  readonly summary: string
  readonly schema: z.ZodType<P>
  readonly bodyBytesMax?: number
  /** Without parameters: for the whole endpoint. With them there may be an answer at hand though nobody can be asked. */
  readonly whyUnavailable: (parameters?: P) => string | undefined
  /** What is known to be missing is refused before anybody pays. */
  readonly whyNoData?: (parameters: P) => string | undefined
  readonly handle: (parameters: P, job: Job) => Promise<Outcome>
}

const bodyBytesMaxDefault = 64 * 1024

/** Ties a schema to its handler, so that the handler gets exactly what the schema lets through. */
export function defineEndpoint<P extends Json>(definition: EndpointDefinition<P>): Endpoint {
  const { schema, handle } = definition
  return {
    ...definition,
    answer: answers[definition.path],
    whyUnavailable: () => definition.whyUnavailable(),
    bodyBytesMax: definition.bodyBytesMax ?? bodyBytesMaxDefault,
    read(input) {
      const parsed = schema.safeParse(input)
      if (!parsed.success) return { ok: false, issues: parsed.error.issues }
      const parameters = parsed.data
      return {
        ok: true,
        parameters,
        whyUnavailable: () => definition.whyUnavailable(parameters),
        whyNoData: () => definition.whyNoData?.(parameters),
        deliver: (job) => handle(parameters, job),
      }
    },
  }
}
