import type { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { fillTemplate, segmentNames } from '@tollbook/core/pathTemplate'
import type { UpstreamName } from './upstreamName.ts'
import type { MeteredPrice } from '../pricing/meteredPrice.ts'
import type { PricedVariant } from '../pricing/priceList.ts'
import type { ProductMethod } from './product.ts'

/**
 * Facts about a product that do not depend on the process. The price list, catalog, OpenAPI document, tables in the
 * docs and the demo are derived from them. A product is therefore described in one file.
 */
export interface ProductFacts {
  readonly path: string
  readonly method: ProductMethod
  readonly summary: string
  /** Price in millionths of a US dollar: the default in a definition, the operator's price in an endpoint. */
  readonly priceMicroUsd: bigint
  /** Present if a tab pays by use, at most the price. */
  readonly metered?: MeteredPrice
  /** Unit that its prices by use count. Present with such a price. */
  readonly usedUnit?: 'tokens' | 'bytes' | 'rows'
  /** Variants for which the operator set prices, such as models. */
  readonly variants?: readonly PricedVariant[]
  /** Present if the product is a deposit, which goes to the wallet for tabs. */
  readonly isDeposit?: true
  /** Validates and documents requests. Values of query and path are texts. */
  readonly parameters: z.ZodType
  /** The shape of `data`, as the specification names it. For a streamed answer: the shape of its whole text. */
  readonly answer: z.ZodType
  /** Present when the product takes a body that is not JSON. Its parameters are then in query and path. */
  readonly rawBody?: RawBodyFacts
  /** Names in lower case of the caller's headers that change the answer. An order is bound to their values. */
  readonly passedHeaders?: readonly string[]
  /** Names in lower case of the provider's headers that the caller gets. */
  readonly returnedHeaders?: readonly string[]
  /** Present when the answer is sent without the JSON envelope, as a whole or streamed. */
  readonly stream?: StreamFacts
  /** Present when a caller may ask for a streamed answer with `stream: true`. */
  readonly streamOnDemand?: StreamFacts
  readonly example: Example
  /** Providers that are queried for this answer, in order. Each name is also the prefix of the provider's variables. */
  readonly providers: readonly ProviderName[]
  /** Maximum size of a body in bytes. */
  readonly bodyBytesMax: number
  readonly demo: Demonstration
  /** Present if clients of this product expect errors in another form. */
  readonly errorForm?: ErrorForm
}

/** Converts the members of an error of this service into the body of the response. */
export type ErrorForm = (status: number, body: Readonly<Record<string, Json>>) => Readonly<Record<string, Json>>

export interface RawBodyFacts {
  /** Accepted media types in lower case, without parameters. */
  readonly contentTypes: readonly string[]
}

export interface StreamFacts {
  /** For example `text/event-stream`. */
  readonly contentType: string
}

/** `AI` stands for `AI_BASE_URL` and the servers after it. `NEWS_FEEDS` stands for the feeds of publishers. */
export type ProviderName = UpstreamName | 'AI' | 'NEWS_FEEDS'

/** One order and its answer, for documents. The texts contain no single quotes, because readers paste them into a shell. */
export interface Example {
  readonly order: ProductOrder
  readonly answer: Json
}

/** Parameters as a caller sends them, in the query or in the body. */
export type ProductOrder = Readonly<Record<string, Json>>

/** The demo's purchase of the product, and the check of the answer. */
export interface Demonstration {
  readonly order: (stage: DemoStage) => ProductOrder
  /** Returns a line to print. Calls `caller.expect` for each property that the answer must have. */
  readonly check: (answer: unknown, caller: DemoCaller) => string | Promise<string>
  /** Printed before the order, because the answer takes some seconds. */
  readonly notice?: string
}

/** Facts of this machine that a demonstration can refer to. */
export interface DemoStage {
  /** A page that a browser of this machine can reach. */
  readonly pageUrl: string
}

/** Tools with which the demo reads an answer. They use other libraries than those that produced the answer. */
export interface DemoCaller {
  /** Ends the demo when `holds` is false. */
  expect(holds: boolean, expectation: string): void
  fetchFile(url: string): Promise<{ readonly contentType: string; readonly bytes: Uint8Array }>
  readPicture(png: Uint8Array): { readonly width: number; readonly height: number; readonly colorCount: number }
  readDrawing(svg: string): { readonly width: number; readonly height: number; readonly pathCount: number }
  countPages(pdf: Uint8Array): Promise<number>
}

/** True for a method whose parameters are in query and path. */
export function hasNoBody(method: ProductMethod): boolean {
  return method === 'GET' || method === 'DELETE'
}

/** A request for an order. */
export interface OrderedRequest {
  /** The path with its values, and the query. */
  readonly target: string
  /** The JSON body. Undefined for a method without a body, and for a product with a raw body. */
  readonly body: ProductOrder | undefined
}

/** Writes the request for an order: values of the path, and the others in query or body. */
export function requestOf(
  { path, method, rawBody }: Pick<ProductFacts, 'path' | 'method' | 'rawBody'>,
  order: ProductOrder,
): OrderedRequest {
  const names = new Set(segmentNames(path))
  const rest = Object.entries(order).filter(([name]) => !names.has(name))
  const target = fillTemplate(path, order)
  if (!hasNoBody(method) && rawBody === undefined) return { target, body: Object.fromEntries(rest) }
  const query = new URLSearchParams()
  for (const [name, value] of rest) query.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  return { target: query.size === 0 ? target : `${target}?${query.toString()}`, body: undefined }
}
