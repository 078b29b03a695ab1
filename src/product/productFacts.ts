import type { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { fillTemplate, segmentNames } from '@tollbook/core/pathTemplate'
import type { MeteredPrice } from '../pricing/meteredPrice.ts'
import type { PricedVariant } from '../pricing/priceList.ts'
import type { Product, ProductMethod } from './product.ts'
import type { ProviderName } from './providerTerms.ts'

/**
 * Facts about a product that do not depend on the process. The price list, the catalog, the OpenAPI document, the docs'
 * tables and the demo are derived from these facts. Each product is therefore described in one file only.
 */
export interface ProductFacts extends Product {
  readonly summary: string
  /** Price in millionths of a US dollar. A definition contains the default, and an endpoint the operator's price. */
  readonly priceMicroUsd: bigint
  /** Price by use, which never exceeds the price. Present if a tab can pay by use. */
  readonly metered?: MeteredPrice
  /** The unit that prices by use count. Present if the product has a price by use. */
  readonly usedUnit?: 'tokens' | 'bytes' | 'rows'
  /** Variants with separate prices, such as the models of a chat. */
  readonly variants?: readonly PricedVariant[]
  /** Present if the product is a deposit: its prices then have the share of deposits only, by which payments know it. */
  readonly isDeposit?: true
  /** Schema that validates and documents requests. Values from query and path arrive as texts. */
  readonly parameters: z.ZodType
  /** Schema of `data`, with the names of the specification. For a streamed answer: schema of the whole text. */
  readonly answer: z.ZodType
  /** Present if the product takes a body that is not JSON. The parameters are then in query and path. */
  readonly rawBody?: RawBodyFacts
  /** Names of the caller's headers that change the answer, in lower case. The values are part of the order. */
  readonly passedHeaders?: readonly string[]
  /** Names of the provider's headers that are sent to the caller, in lower case. */
  readonly returnedHeaders?: readonly string[]
  /** Present if the answer is sent without the JSON envelope, either whole or streamed. */
  readonly stream?: StreamFacts
  /** Present if a caller can request a streamed answer by `stream: true`. */
  readonly streamOnDemand?: StreamFacts
  readonly example: Example
  /**
   * Providers that can answer, in order of preference. The name of a provider is also the prefix of its environment
   * variables.
   */
  readonly providers: readonly ProviderName[]
  /** Maximum size of a body in bytes. */
  readonly bodyBytesMax: number
  readonly demo: Demonstration
  /** Converts errors into another form. Present if clients of this product expect a form of another API. */
  readonly errorForm?: ErrorForm
}

/** Converts the members of an error into the response body that clients of a product expect. */
export type ErrorForm = (status: number, body: Readonly<Record<string, Json>>) => Readonly<Record<string, Json>>

export interface RawBodyFacts {
  /** Accepted media types, in lower case and without parameters. */
  readonly contentTypes: readonly string[]
}

export interface StreamFacts {
  /** Content type, such as `text/event-stream`. */
  readonly contentType: string
}

/**
 * An order and its answer, for the documents. The texts contain no single quotes, because readers paste them into a
 * shell.
 */
export interface Example {
  readonly order: ProductOrder
  readonly answer: Json
}

/** Parameters as a caller sends them, by name. */
export type ProductOrder = Readonly<Record<string, Json>>

/** The order with which the demo buys the product, and the check of the answer. */
export interface Demonstration {
  readonly order: (stage: DemoStage) => ProductOrder
  /** Checks an answer, by calling `caller.expect` for each required property. Returns a line to print. */
  readonly check: (answer: unknown, caller: DemoCaller) => string | Promise<string>
  /** Text that is printed before the order, because the answer takes some seconds. */
  readonly notice?: string
}

/** Facts about this machine that the demo's orders can use. */
export interface DemoStage {
  /** Address of a page that a browser on this machine can open. */
  readonly pageUrl: string
}

/**
 * Tools with which the demo checks an answer. They use other libraries than the product, so that a library's mistake is
 * noticed.
 */
export interface DemoCaller {
  /** Ends the demo with an error if `holds` is false. */
  expect(holds: boolean, expectation: string): void
  fetchFile(url: string): Promise<{ readonly contentType: string; readonly bytes: Uint8Array }>
  readPicture(png: Uint8Array): { readonly width: number; readonly height: number; readonly colorCount: number }
  readDrawing(svg: string): { readonly width: number; readonly height: number; readonly pathCount: number }
  countPages(pdf: Uint8Array): Promise<number>
}

/** True if requests with this method have no body, so that all parameters are in query and path. */
export function hasNoBody(method: ProductMethod): boolean {
  return method === 'GET' || method === 'DELETE'
}

/** The parts of an HTTP request that buys an order. */
export interface OrderedRequest {
  /** The path with its values filled in, and the query. */
  readonly target: string
  /** The JSON body. Undefined if the method has no body, or if the product takes a raw body. */
  readonly body: ProductOrder | undefined
}

/** Returns the request for an order. Parameters of the path are filled in. The others are in the query or the body. */
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
