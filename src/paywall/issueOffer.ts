import { assert } from '@tollbook/core/assert'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Clock } from '@tollbook/core/clock'
import { newId } from '@tollbook/core/id'
import { displayNumber, formatDecimal } from '@tollbook/core/money'
import type { Address } from '@tollbook/core/address'
import type { ListedPrice } from '@tollbook/core/quote'
import { type Refusal, refuse } from '@tollbook/core/refusal'
import { usdDecimals } from '../pricing/priceList.ts'
import { describeToken, type TokenNames } from '../pricing/tokenNames.ts'
import { tokenPriceDecimals } from '../pricing/tokenPrice.ts'
import type { CheckedOrder, Product } from '../product/product.ts'
import { type Answer, jsonAnswer } from './answer.ts'
import type { Challenge, Offer, OrderRequest, PaymentRail } from './rail.ts'

export interface OfferDeps {
  readonly clock: Clock
  readonly rails: readonly PaymentRail[]
  readonly quoteTtlMs: number
  readonly token: TokenNames
}

export const unpriced = 'the token has no current price; checks.price of /api/health says why'

export interface OfferQuestion {
  readonly request: OrderRequest
  readonly product: Product
  readonly payer: Address | undefined
  readonly price: ListedPrice
  readonly ordered?: Pick<CheckedOrder, 'covers'>
}

export async function issueOffer(deps: OfferDeps, question: OfferQuestion): Promise<Answer | Refusal> {
  const { ordered, ...asked } = question
  const { price, request } = asked
  const marking = deps.rails.filter((rail) => rail.description !== undefined && rail.identify(request) !== undefined)
  const markedBy = marking.map(({ name }) => name)
  const offer: Offer = {
    ...openOffer(deps, asked),
    markedBy: request.tool === undefined ? markedBy.slice(0, 1) : markedBy,
  }
  const answers = await Promise.all(deps.rails.map((rail) => rail.challenge(offer)))
  const challenges = answers.filter((challenge) => challenge !== undefined)
  if (challenges.length === 0) return refuse('ENDPOINT_UNAVAILABLE', 'no way to pay is offered at the moment', 5)
  const tokens = formatDecimal(price.requiredBaseUnits, price.decimals)
  const instructions = challenges.map(({ instruction }) => instruction).join('; or ')
  const body = {
    error: `payment required: ${tokens} ${describeToken(deps.token, price.mint)}; ${instructions}`,
    code: 'PAYMENT_REQUIRED',
    pricing: {
      endpoint: price.endpoint,
      method: request.tool === undefined ? undefined : request.method,
      priceUSD: displayNumber(price.priceMicroUsd, usdDecimals),
      tokenPrice: displayNumber(price.tokenPriceAttoUsd, tokenPriceDecimals),
      requiredTokens: displayNumber(price.requiredBaseUnits, price.decimals),
      covers: ordered?.covers?.(),
    },
  }
  const answer = jsonAnswer(402, JSON.stringify(withMembers(body, challenges)), headersOf(challenges))
  return { ...answer, offer: challenges }
}

export function openOffer<Q extends Omit<OfferQuestion, 'request' | 'ordered'>>(
  { clock, quoteTtlMs }: Pick<OfferDeps, 'clock' | 'quoteTtlMs'>,
  question: Q,
) {
  const issuedAtMs = clock.nowMs()
  return { id: newId('quote'), ...question, issuedAtMs, expiresAtMs: issuedAtMs + quoteTtlMs }
}

function withMembers(body: object, challenges: readonly Challenge[]): Json {
  const parts = [body, ...challenges.map(({ members }) => members)]
  const whole = Object.assign({}, ...parts)
  const count = parts.reduce((sum, part) => sum + Object.keys(part).length, 0)
  assert(Object.keys(whole).length === count, 'no two rails write the same member of the 402')
  return whole
}

/** Fields such as WWW-Authenticate are lists (RFC 9110, 5.3), so two rails may add to one field. */
function headersOf(challenges: readonly Challenge[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>()
  for (const [name, value] of challenges.flatMap((challenge) => Object.entries(challenge.headers))) {
    const earlier = headers.get(name)
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  return Object.fromEntries(headers)
}
