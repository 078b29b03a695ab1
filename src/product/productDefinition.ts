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

/*
 * The forms of a product:
 *
 *     ProductSource       facts with exact types, and a function that opens the handler
 *       │ defineProduct
 *     ProductDefinition   ProductFacts, and the function `open`
 *       │ onSale          takes the operator's price
 *       │ openEndpoint    opens the ProductHandler with the services that it needs
 *     Endpoint            ProductFacts and OpenProduct
 *       │ read            checks the input of a request
 *     CheckedOrder        parameters, and the functions that judge and deliver this order
 */

export interface ProductDefinition<Needs> extends ProductFacts {
  open(needs: Needs): OpenProduct
}

export interface OpenProduct extends Pick<
  Endpoint,
  'parameters' | 'whyUnavailable' | 'read' | 'suppliedBy' | 'probes'
> {
  close(): Promise<void>
}

interface ProductSource<P extends Json, A, Needs> extends Omit<
  ProductFacts,
  'parameters' | 'answer' | 'bodyBytesMax' | 'demo'
> {
  readonly parameters: z.ZodType<P>
  readonly answer: z.ZodType<A>
  /** Absent: 64 KiB. */
  readonly bodyBytesMax?: number
  readonly demo: Omit<Demonstration, 'check'> & {
    readonly check: (answer: A, caller: DemoCaller) => string | Promise<string>
  }
  /** Removes members of a request that have no effect. `parameters` then validates the rest. */
  readonly withoutNeutral?: (input: unknown) => unknown
  readonly open: (needs: Needs) => ProductHandler<P>
}

export interface ProductHandler<P extends Json> {
  /** Replaces the schema of the facts, if the configuration changes which parameters are accepted. */
  readonly parameters?: z.ZodType<P>
  /** With `parameters`, the reason concerns one order: a cached answer can be sold even while all providers are down. */
  readonly whyUnavailable: (parameters?: P, payer?: string) => string | undefined
  /** Absent: `whyUnavailable` applies to paid orders too. */
  readonly whyUndeliverable?: (parameters: P, payer?: string) => string | undefined
  /** Absent: the product needs no provider. */
  readonly providersAnswer?: () => boolean
  readonly probes?: readonly Liveness[]
  /** If it returns a reason, the order is refused before payment. */
  readonly whyNoData?: (parameters: P) => string | undefined
  /** Undefined unless the variant has a separate price. */
  readonly variant?: (parameters: P) => string | undefined
  readonly formerVariant?: (parameters: P) => string | undefined
  readonly covers?: (parameters: P) => Json
  /** Undefined if the answer cannot end when a budget is used up. */
  readonly inputUnits?: (parameters: P) => number | undefined
  readonly deliver: (parameters: P, job: Job) => Promise<Outcome>
  readonly close?: () => Promise<void>
}

const bodyBytesMaxDefault = 64 * 1024

/** The types ensure that the handler receives what the schema returns. */
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

export function openEndpoint<Needs>(definition: ProductDefinition<Needs>, needs: Needs): ProductFacts & OpenProduct {
  return { ...definition, ...definition.open(needs) }
}

export function onSale<Definition extends ProductFacts>(
  definitions: readonly Definition[],
  sold: readonly ProductFacts[],
): readonly Definition[] {
  return definitions.flatMap((definition) => {
    const facts = sold.find(({ path }) => path === definition.path)
    return facts === undefined ? [] : [{ ...definition, ...facts }]
  })
}
