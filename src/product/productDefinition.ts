import type { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { assert } from '@tollbook/core/assert'
import { sha256Hex } from '@tollbook/core/digest'
import { endpointOf } from '@tollbook/core/endpointName'
import type { Job, Outcome } from './product.ts'
import type { Endpoint } from './endpoint.ts'
import type { Liveness } from './liveness.ts'
import { type DemoCaller, type Demonstration, hasNoBody, type ProductFacts } from './productFacts.ts'
import { findPathProblem } from './productPath.ts'

/** A product ready for a catalog. `Needs` are the parts of the process that the product uses. */
export interface ProductDefinition<Needs> extends ProductFacts {
  open(needs: Needs): OpenProduct
}

/** The part of an endpoint that depends on the process. */
export interface OpenProduct extends Pick<
  Endpoint,
  'parameters' | 'whyUnavailable' | 'read' | 'suppliedBy' | 'probes'
> {
  close(): Promise<void>
}

/** Content of a product's file: the facts with their types, and the function that opens the handler. */
export interface ProductSource<P extends Json, A, Needs> extends Omit<
  ProductFacts,
  'parameters' | 'answer' | 'bodyBytesMax' | 'demo'
> {
  readonly parameters: z.ZodType<P>
  readonly answer: z.ZodType<A>
  /** Default: 64 KiB. */
  readonly bodyBytesMax?: number
  readonly demo: Omit<Demonstration, 'check'> & {
    readonly check: (answer: A, caller: DemoCaller) => string | Promise<string>
  }
  /** Removes parts of a request that have no effect, before `parameters` validates the rest. */
  readonly withoutNeutral?: (input: unknown) => unknown
  readonly open: (needs: Needs) => ProductHandler<P>
}

/** A product with its open providers: availability before a quote, and delivery after the payment. */
export interface ProductHandler<P extends Json> {
  /** Present when the operator's configuration changes which parameters are accepted. */
  readonly parameters?: z.ZodType<P>
  /**
   * Without parameters: for the whole product. With parameters: an answer may be in the cache even if all providers are
   * down.
   */
  readonly whyUnavailable: (parameters?: P, payer?: string) => string | undefined
  /** Reason for an order that has been paid, where it differs from the reason for a new buyer. */
  readonly whyUndeliverable?: (parameters: P, payer?: string) => string | undefined
  /** True while a provider answers. Absent: the product needs none. */
  readonly providersAnswer?: () => boolean
  readonly probes?: readonly Liveness[]
  /** Reason if the answer is known not to exist. The order is then refused before payment. */
  readonly whyNoData?: (parameters: P) => string | undefined
  /** The variant that this order buys, if that variant has its own price. */
  readonly variant?: (parameters: P) => string | undefined
  /** The variant that this order names, even if its price was removed. */
  readonly formerVariant?: (parameters: P) => string | undefined
  /** Limits of what the price of this order covers, for the 402. */
  readonly covers?: (parameters: P) => Json
  /** Units of input of an order whose answer can end where a budget ends. */
  readonly inputUnits?: (parameters: P) => number | undefined
  readonly deliver: (parameters: P, job: Job) => Promise<Outcome>
  readonly close?: () => Promise<void>
}

const bodyBytesMaxDefault = 64 * 1024

/** Ties a schema to its handler, so that the handler receives exactly the type that the schema accepts. */
export function defineProduct<P extends Json, A, Needs>(source: ProductSource<P, A, Needs>): ProductDefinition<Needs> {
  const { answer, demo, path, method, rawBody } = source
  const pathProblem = findPathProblem(path)
  assert(pathProblem === undefined, `the path ${path} ${pathProblem ?? ''}`)
  assert(rawBody === undefined || !hasNoBody(method), `${method} ${path} can have a raw body`)
  return {
    ...source,
    bodyBytesMax: source.bodyBytesMax ?? bodyBytesMaxDefault,
    demo: { ...demo, check: (data, caller) => demo.check(answer.parse(data), caller) },
    open: (needs) => openProduct(source, source.open(needs)),
  }
}

function openProduct<P extends Json, A, Needs>(
  source: ProductSource<P, A, Needs>,
  { parameters: schema = source.parameters, ...handler }: ProductHandler<P>,
): OpenProduct {
  return {
    parameters: schema,
    whyUnavailable: () => handler.whyUnavailable(),
    suppliedBy: () => ((handler.providersAnswer?.() ?? true) ? 'providers' : 'none'),
    probes: handler.probes ?? [],
    read(input, sent = {}) {
      const parsed = schema.safeParse(source.withoutNeutral?.(input) ?? input)
      if (!parsed.success) return { ok: false, issues: parsed.error.issues }
      const parameters = parsed.data
      const inputUnits = handler.inputUnits?.(parameters)
      const { body, headers } = sent
      return {
        ok: true,
        parameters,
        ...(inputUnits === undefined ? {} : { inputUnits }),
        ...(body === undefined ? {} : { body: { contentType: body.contentType, digest: sha256Hex(body.bytes) } }),
        ...(headers === undefined ? {} : { headers }),
        endpoint: endpointOf(source.path, handler.variant?.(parameters)),
        formerEndpoint: endpointOf(source.path, handler.formerVariant?.(parameters)),
        whyUnavailable: (payer) => handler.whyUnavailable(parameters, payer),
        whyUndeliverable: (payer) => (handler.whyUndeliverable ?? handler.whyUnavailable)(parameters, payer),
        whyNoData: () => handler.whyNoData?.(parameters),
        covers: () => handler.covers?.(parameters),
        deliver: (job) => handler.deliver(parameters, { ...job, ...sent }),
      }
    },
    close: () => handler.close?.() ?? Promise.resolve(),
  }
}

/** An endpoint that can be closed. */
export interface OpenEndpoint extends Endpoint {
  close(): Promise<void>
}

/** Connects a definition with the parts that it needs. Sends no request yet. */
export function openEndpoint<Needs>(definition: ProductDefinition<Needs>, needs: Needs): OpenEndpoint {
  return { ...definition, ...definition.open(needs) }
}
