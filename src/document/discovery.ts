import type { FreeSearch } from '../product/freeSearch.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import { fillTemplate } from '@tollbook/core/pathTemplate'
import type { Endpoint } from '../product/endpoint.ts'
import { hasNoBody } from '../product/productFacts.ts'
import { describeSeller, type Seller } from '../product/seller.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { PaymentRail, RailDescription } from '../paywall/rail.ts'
import { pegAttoUsd } from '../pricing/dollarPrices.ts'
import { displayUsd } from '../pricing/priceList.ts'
import { describeToken, type TokenNames } from '../pricing/tokenNames.ts'
import type { SplitShare } from '../pricing/splitSetting.ts'
import { requiredBaseUnits } from '../pricing/tokenPrice.ts'
import { type AcceptedDollar, dollarsIntro, dollarsMember } from './acceptedDollars.ts'
import { payingSteps } from './introduction.ts'
import { shownParameters } from './shownParameters.ts'
import { tabsIntro } from './tabsIntro.ts'
import { shownUse, withTabPrices } from './usePrices.ts'
import { priceRange, shownVariants } from './variantPrices.ts'

export type DescribedRail = Pick<PaymentRail, 'name' | 'description'>

export function descriptionsOf(rails: readonly DescribedRail[]): readonly RailDescription[] {
  return rails.flatMap(({ description }) => description ?? [])
}

export interface DiscoveryDeps {
  readonly endpoints: readonly Endpoint[]
  readonly searches: readonly FreeSearch[]
  readonly rails: readonly DescribedRail[]
  readonly split: readonly SplitShare[]
  readonly token: TokenNames
  readonly seller: Seller
  readonly dollars: readonly AcceptedDollar[]
  readonly terms: Pick<PaymentTerms, 'mint' | 'network'>
}

export interface OfferedPrice {
  readonly mint: string
  readonly dollars?: readonly AcceptedDollar[]
  /** Price in base units of the token. Undefined while the token has no price. */
  readonly requiredBaseUnits: bigint | undefined
}

/**
 * Creates `x-payment-info` of an operation: its price, the protocols that can pay it (x402scan discovery), and their
 * offers (MPP discovery). An offer is only a hint; the challenge in the 402 is authoritative.
 */
export function paymentInfo(
  endpoint: Endpoint,
  rails: readonly DescribedRail[],
  { mint, dollars = [], ...price }: OfferedPrice,
): Json {
  const amount = price.requiredBaseUnits?.toString() ?? null
  const terms = descriptionsOf(rails).flatMap(({ offer }) => (offer === undefined ? [] : [offer]))
  const offers = [
    ...terms.map((offer) => ({ ...offer, amount, currency: mint, description: endpoint.summary })),
    ...dollars.flatMap((dollar) => dollarOffers(endpoint, rails, dollar)),
  ]
  return {
    price: priceRange(endpoint),
    protocols: rails.map(({ name, description }) => ({
      [name]: description?.offer === undefined ? {} : { ...description.offer, currency: mint },
    })),
    ...(offers.length === 0 ? {} : { offers }),
  }
}

function dollarOffers(endpoint: Endpoint, rails: readonly DescribedRail[], dollar: AcceptedDollar): readonly Json[] {
  const { mint: currency, decimals, minimumMicroUsd, rails: offering } = dollar
  const { priceMicroUsd, summary: description, isDeposit } = endpoint
  if (isDeposit === true || priceMicroUsd < minimumMicroUsd) return []
  // A dollar token counts as 1 USD, so its amount does not depend on a market.
  const amount = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd: pegAttoUsd, decimals }).toString()
  const open = descriptionsOf(rails.filter(({ name }) => offering.includes(name)))
  return open.flatMap(({ offer }) => (offer === undefined ? [] : [{ ...offer, amount, currency, description }]))
}

/**
 * Creates `/.well-known/x402`: the addresses that answer 402 to a request without a payment. The list is empty if no
 * rail has a mount.
 */
export function x402Resources(
  { endpoints, rails, seller, dollars }: Pick<DiscoveryDeps, 'endpoints' | 'rails' | 'seller' | 'dollars'>,
  baseUrl: string,
): Json {
  const mounts = descriptionsOf(rails).flatMap(({ mount }) => mount ?? [])
  return {
    version: 1,
    x402Version: 2,
    service: describeSeller(seller),
    resources: mounts.flatMap((mount) =>
      endpoints.map(({ path, example }) => `${baseUrl}${mount}${fillTemplate(path, example.order)}`),
    ),
    ...dollarsMember(dollars),
    instructions: `Prices, parameters and answers are in ${baseUrl}/openapi.json. A request without parameters answers 402 with the price. The same products are tools of MCP at ${baseUrl}/mcp.`,
  }
}

/** Creates `/llms.txt`: the facts that a language model needs to buy an answer (llmstxt.org). */
export function llmsText(
  { endpoints, searches, rails, split, token, terms, seller, dollars }: DiscoveryDeps,
  linkBase: string,
): string {
  const protocols = descriptionsOf(rails).map(
    ({ protocol, request }) =>
      `A client of ${protocol} needs no wallet header and no SOL: send the same request ${request}.`,
  )
  return [
    `# ${seller.name}`,
    `> ${seller.description}. No account and no API key.`,
    `To buy an answer:\n${payingSteps(split)}`,
    `The token is ${describeToken(token, terms.mint)}, on ${terms.network}. A wallet also needs about 0.00001 SOL for the network fee of each payment.`,
    ...(dollars.length === 0
      ? []
      : [[dollarsIntro, ...dollars.map(({ description }) => `- ${description}`)].join('\n')]),
    ...protocols,
    ...tabsIntro(endpoints),
    'A wrong parameter is refused before payment. A 503 means that the outcome is unknown: repeat with the same proof, and never pay again because of it.',
    `An agent that speaks MCP (streamable HTTP) finds every paid endpoint as a tool at ${linkBase}/mcp, and pays in \`_meta\`.`,
    '## Paid endpoints',
    withTabPrices(endpoints).map(lineOf).join('\n'),
    '## Documentation',
    [
      `- [API reference](${linkBase}/openapi.json): OpenAPI 3.1, with examples and errors`,
      `- [Price list](${linkBase}/api/catalog): prices in tokens, and what is available now`,
      ...searches.map(({ path, summary }) => `- [${summary}](${linkBase}${path}?query=): free`),
      `- [Burned tokens](${linkBase}/api/token/burn-stats)`,
      `- [Receipt keys](${linkBase}/.well-known/jwks.json)`,
      ...(seller.contact === undefined ? [] : [`- Contact: ${seller.contact}`]),
      ...(seller.termsUrl === undefined ? [] : [`- Terms: ${seller.termsUrl}`]),
      '',
    ].join('\n'),
  ].join('\n\n')
}

function lineOf(endpoint: Endpoint): string {
  const { method, path, summary, parameters, rawBody } = endpoint
  const where = hasNoBody(method) || rawBody !== undefined ? 'path and query' : 'JSON body'
  return `- \`${method} ${path}\`: ${summary}. $${String(displayUsd(endpoint))} a request${shownVariants(endpoint)}${shownUse(endpoint)}. ${where}: ${shownParameters(parameters)}`
}
