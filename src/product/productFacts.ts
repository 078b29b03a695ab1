import type { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import type { UpstreamName } from './upstreamName.ts'
import type { PricedVariant } from '../pricing/priceList.ts'

/**
 * A product without the process that sells it. The price list, the catalog, the OpenAPI document, the tables in docs and
 * the demo are derived from these facts, so a product is described in its own file and nowhere else.
 */
export interface ProductFacts {
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly summary: string
  /** Price in millionths of a US dollar: the default in a definition, the operator's price in an endpoint. */
  readonly priceMicroUsd: bigint
  /** Variants with prices of the operator, such as models. */
  readonly variants?: readonly PricedVariant[]
  /** Validates requests and documents them. For GET its fields are the texts of the query. */
  readonly parameters: z.ZodType
  /** The shape of `data`, as the specification names it; of a streamed answer, the shape of its whole text. */
  readonly answer: z.ZodType
  /** Present when the answer is streamed. */
  readonly stream?: StreamFacts
  /** Present when a caller may ask for a streamed answer with `stream: true`. */
  readonly streamOnDemand?: StreamFacts
  readonly example: Example
  /** The providers asked for this answer, in order. Each name is also the prefix of its variables. */
  readonly providers: readonly ProviderName[]
  /** Bytes of a POST body. */
  readonly bodyBytesMax: number
  readonly demo: Demonstration
  /** Present when the clients of this product read errors of another form. */
  readonly errorForm?: ErrorForm
}

/** Makes the body of an error from the members that errors of this service have. */
export type ErrorForm = (status: number, body: Readonly<Record<string, Json>>) => Readonly<Record<string, Json>>

export interface StreamFacts {
  /** For example `text/event-stream`. */
  readonly contentType: string
}

/** `AI` is `AI_BASE_URL` and the servers after it, `NEWS_FEEDS` are the feeds of publishers. */
export type ProviderName = UpstreamName | 'AI' | 'NEWS_FEEDS'

/** One order and its answer, for documents. Their texts contain no single quotes, because they are pasted into a shell. */
export interface Example {
  readonly order: ProductOrder
  readonly answer: Json
}

/** Parameters as a caller sends them, in the query or in the body. */
export type ProductOrder = Readonly<Record<string, Json>>

/** Purchase of the product by the demo, and the check of its answer. */
export interface Demonstration {
  readonly order: (stage: DemoStage) => ProductOrder
  /** Returns a line to print. Calls `buyer.expect` for each property that the answer must have. */
  readonly check: (answer: unknown, buyer: DemoBuyer) => string | Promise<string>
  /** Printed before the order, because the answer takes some seconds. */
  readonly notice?: string
}

/** Facts of this machine that a demonstration can refer to. */
export interface DemoStage {
  /** A page that a browser of this machine can reach. */
  readonly pageUrl: string
}

/** Tools of a buyer for reading an answer, made of libraries other than those that made it. */
export interface DemoBuyer {
  /** Ends the demo when `holds` is false. */
  expect(holds: boolean, expectation: string): void
  fetchFile(url: string): Promise<{ readonly contentType: string; readonly bytes: Uint8Array }>
  readPicture(png: Uint8Array): { readonly width: number; readonly height: number; readonly colorCount: number }
  readDrawing(svg: string): { readonly width: number; readonly height: number; readonly pathCount: number }
  countPages(pdf: Uint8Array): Promise<number>
}

/** The request line for an order: the target with its query, and the body of a POST. */
export function requestOf(
  { path, method }: Pick<ProductFacts, 'path' | 'method'>,
  order: ProductOrder,
): { readonly target: string; readonly body: ProductOrder | undefined } {
  if (method === 'POST') return { target: path, body: order }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(order))
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  return { target: `${path}?${query.toString()}`, body: undefined }
}
