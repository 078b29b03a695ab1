import { z } from 'zod'
import type { Address } from '@tollbook/core/address'
import { segmentNames } from '@tollbook/core/pathTemplate'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Challenge, Offer } from '../../paywall/rail.ts'
import { hasNoBody } from '../../product/productFacts.ts'
import { dollarOffers, type DollarOffer, isForOtherRail, type WithDollars } from '../sponsored/dollars.ts'
import { type FeePayer, openFeePayer } from '../sponsored/feePayer.ts'
import { type Binding, newBinding, type OfferTexts } from '../sponsored/offerText.ts'
import { amountToSend } from '../sponsored/priceOfList.ts'
import { declaration, paymentIdentifier } from './paymentIdentifier.ts'
import { encodeText, requiredHeader, x402Version } from './wire.ts'

export const mount = '/x402'

export interface X402ChallengeDeps extends WithDollars {
  readonly feePayer: FeePayer
  readonly offerTexts: OfferTexts
  /** CAIP-2 id of the chain for clients. */
  readonly network: string
  readonly serviceUrl: () => string
  readonly sellerName: string
  readonly describe: (path: string) => ProductDescription | undefined
}

export interface ProductDescription {
  readonly summary: string
  readonly mimeType: string
  /**
   * Path of the JSON Schema of the parameters. The offer only links the schema, because a schema can be larger than the
   * buffers of a proxy.
   */
  readonly inputSchemaPath: string
}

/**
 * Maximum time from the 402 to the payment. A transaction cannot land after about 60 seconds, because its blockhash
 * expires.
 */
const maxTimeoutSeconds = 60

export async function challenge(deps: X402ChallengeDeps, offer: Offer): Promise<Challenge | undefined> {
  if (isForOtherRail(deps, offer, 'x402')) return undefined
  const withDollars = offer.markedBy?.includes('x402') === true
  const required = await paymentRequired(deps, offer, { error: 'PAYMENT-SIGNATURE header is required', withDollars })
  if (required === undefined) return undefined
  const instruction = 'pay by x402 as the PAYMENT-REQUIRED header says'
  return { instruction, members: {}, ...required }
}

interface OfferStyle {
  readonly error: string
  readonly withDollars: boolean
}

export async function paymentRequired(deps: X402ChallengeDeps, offer: Offer, { error, withDollars }: OfferStyle) {
  const feePayer = await openFeePayer(deps.feePayer)
  if (feePayer === undefined) return undefined
  const { price, product, request } = offer
  // Offer the token first. A client without a configured asset skips it, because such a client accepts only dollars.
  const inDollars = withDollars ? await dollarOffers(deps, price, 'x402') : []
  const ways = [{ terms: deps.terms, price }, ...inDollars]
  const asked = ways.map((way) => ({ ...way, amount: amountToSend(way.terms, way.price.requiredBaseUnits).toString() }))
  const amounts = asked.flatMap(({ amount, terms, price: { priceList } }) => [terms.mint, amount, priceList])
  const write = (binding: Binding) => {
    const accepts = asked.map((way) => requirementsOf(deps, way, { feePayer, binding }))
    return JSON.stringify(contentOf(deps, offer, { error, accepts }))
  }
  // Do not cache the offer of a path pattern. It contains the requested path, and callers can invent any number of
  // paths.
  const isPattern = segmentNames(product.path).length > 0
  const key = [request.tool?.name ?? '', product.path, feePayer, error, ...amounts].join(' ')
  const text = isPattern ? write : deps.offerTexts.of(price, key, write)
  const json = text(newBinding())
  const toolWords = () => ({ content: z.record(z.string(), z.json()).parse(JSON.parse(json)) })
  return { headers: { [requiredHeader]: encodeText(json) }, toolWords }
}

interface OfferContent {
  readonly error: string
  readonly accepts: readonly Json[]
}

function contentOf(deps: X402ChallengeDeps, offer: Offer, { error, accepts }: OfferContent): Json {
  const { product, request } = offer
  const description = deps.describe(product.path)
  return {
    x402Version,
    error,
    resource: {
      url: `${deps.serviceUrl()}${request.tool?.path ?? `${mount}${request.path ?? product.path}`}`,
      ...(description === undefined ? {} : { description: description.summary, mimeType: description.mimeType }),
      serviceName: deps.sellerName,
    },
    accepts,
    extensions: {
      [paymentIdentifier]: declaration,
      ...(description === undefined ? {} : { bazaar: bazaarOf(deps, offer, description) }),
    },
  }
}

interface AskedWay extends DollarOffer {
  readonly amount: string
}

interface Requirements {
  readonly feePayer: Address
  readonly binding: Binding
}

/**
 * Returns the requirements of one way to pay: the scheme `exact` on Solana. The client repeats these requirements
 * unchanged with its payment. The memo goes on chain. The client sends the secret only to the service, so no other
 * caller can use the payment. The offer is not stored, because the number of its price list suffices to find the
 * price.
 */
function requirementsOf(
  { network }: X402ChallengeDeps,
  { terms, price: { priceList }, amount }: AskedWay,
  { feePayer, binding: { memo, secret } }: Requirements,
): Json {
  return {
    scheme: 'exact',
    network,
    amount,
    asset: terms.mint,
    payTo: terms.paymentWallet,
    maxTimeoutSeconds,
    extra: {
      feePayer,
      memo,
      secret,
      priceList,
      // The payment precedes the answer, because the transaction lands first.
      paymentFlow: 'upfront',
    },
  }
}

/** Describes the product for indexers, which read it from the 402 to a request without parameters. */
function bazaarOf(
  { serviceUrl }: X402ChallengeDeps,
  { product, request }: Offer,
  { inputSchemaPath }: ProductDescription,
): Json {
  const { method, path } = product
  const names = segmentNames(path)
  // Link the schema with `externalDocs`, because x402 validators forbid a `$ref` to another document.
  const linked = { externalDocs: { url: `${serviceUrl()}${inputSchemaPath}` } }
  if (request.tool !== undefined) return bazaarTool(request.tool.name, linked)
  return {
    ...(names.length === 0 ? {} : { routeTemplate: `${mount}${path.replaceAll(/\{(\w+)\}/g, ':$1')}` }),
    info: {
      input: {
        type: 'http',
        method,
        ...(hasNoBody(method) ? {} : { bodyType: 'json' }),
        ...(names.length === 0 ? {} : { pathParams: {} }),
      },
      output: { type: 'json' },
    },
    schema: { properties: { input: { properties: { [hasNoBody(method) ? 'queryParams' : 'body']: linked } } } },
  }
}

/** The indexer identifies a tool by its server and its name. */
function bazaarTool(toolName: string, inputSchema: Json): Json {
  return {
    info: { input: { type: 'mcp', toolName, transport: 'streamable-http', inputSchema }, output: { type: 'json' } },
    schema: { properties: { input: { properties: { inputSchema: { type: 'object' } } } } },
  }
}
