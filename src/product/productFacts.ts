import type { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { fillTemplate, segmentNames } from '@tollbook/core/pathTemplate'
import type { MeteredPrice } from '../pricing/meteredPrice.ts'
import type { PricedVariant } from '../pricing/priceList.ts'
import type { Product, ProductMethod } from './product.ts'
import type { ProviderName } from './providerTerms.ts'

/** Maximum of `bodyBytesMax`. The service keeps at most this much of the bodies of one client address in memory. */
export const uploadBytesMax = 16 * 1024 * 1024

/** Price list, catalog, OpenAPI document and demo are derived from these facts. */
export interface ProductFacts extends Product {
  readonly summary: string
  /** A definition contains the default, and an endpoint the operator's price. */
  readonly priceMicroUsd: bigint
  readonly metered?: MeteredPrice
  readonly usedUnit?: 'tokens' | 'bytes' | 'rows'
  readonly variants?: readonly PricedVariant[]
  /** The prices of a deposit have the share of deposits only, which marks a payment as a deposit. */
  readonly isDeposit?: true
  /** Validates and documents requests. Values from query and path arrive as texts. */
  readonly parameters: z.ZodType
  /** Schema of `data`, with the names of the specification. For a streamed answer: schema of the whole text. */
  readonly answer: z.ZodType
  /** For a body that is not JSON. The parameters are then in query and path. */
  readonly rawBody?: RawBodyFacts
  /** In lower case. These headers change the answer, so their values are part of the order. */
  readonly passedHeaders?: readonly string[]
  readonly returnedHeaders?: readonly string[]
  /** Present if the answer is sent without the JSON envelope, either whole or streamed. */
  readonly stream?: StreamFacts
  readonly streamOnDemand?: StreamFacts
  readonly example: Example
  /** In order of preference. The name is also the prefix of the provider's environment variables. */
  readonly providers: readonly ProviderName[]
  readonly bodyBytesMax: number
  readonly demo: Demonstration
  /** Present if clients of this product expect errors in the form of another API. */
  readonly errorForm?: ErrorForm
}

export type ErrorForm = (status: number, body: Readonly<Record<string, Json>>) => Readonly<Record<string, Json>>

export interface RawBodyFacts {
  readonly contentTypes: readonly string[]
}

export interface StreamFacts {
  readonly contentType: string
}

/** The texts contain no single quotes, because readers paste them into a shell. */
export interface Example {
  readonly order: ProductOrder
  readonly answer: Json
}

export type ProductOrder = Readonly<Record<string, Json>>

export interface Demonstration {
  readonly order: (stage: DemoStage) => ProductOrder
  readonly check: (answer: unknown, caller: DemoCaller) => string | Promise<string>
  /** Printed before the order, because the answer takes some seconds. */
  readonly notice?: string
}

export interface DemoStage {
  readonly pageUrl: string
}

/** These functions use other libraries than the product, so that a library's mistake is noticed. */
export interface DemoCaller {
  expect(holds: boolean, expectation: string): void
  fetchFile(url: string): Promise<{ readonly contentType: string; readonly bytes: Uint8Array }>
  readPicture(png: Uint8Array): { readonly width: number; readonly height: number; readonly colorCount: number }
  readDrawing(svg: string): { readonly width: number; readonly height: number; readonly pathCount: number }
  countPages(pdf: Uint8Array): Promise<number>
}

export function hasNoBody(method: ProductMethod): boolean {
  return method === 'GET' || method === 'DELETE'
}

export interface OrderedRequest {
  readonly target: string
  readonly body: ProductOrder | undefined
}

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
