import type { Address } from '@tollbook/core/address'
import { encodeBase64 } from '@tollbook/core/base64'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import { clusterOf } from '@tollbook/core/networks'
import type { Challenge, Offer, OrderRequest } from '../../paywall/rail.ts'
import { dollarOffers, type DollarOffer, isForOtherRail, type WithDollars } from '../sponsored/dollars.ts'
import { type FeePayer, openFeePayer } from '../sponsored/feePayer.ts'
import { newBinding, type OfferTexts } from '../sponsored/offerText.ts'
import { amountToSend } from '../sponsored/priceOfList.ts'
import { describeOffer, wantsProblem } from './problem.ts'
import { toolChallenges } from './toolPayment.ts'
import {
  boundText,
  challengeHeader,
  type ChallengeParameters,
  encodeText,
  intent,
  method,
  type MppChallenge,
  writeChallenge,
} from './wire.ts'

export interface MppChallengeDeps extends WithDollars {
  readonly feePayer: FeePayer
  readonly offerTexts: OfferTexts
  /** Returns the public origin of the service. The host of the origin is the realm of the challenges. */
  readonly serviceUrl: () => string
  readonly describe: (path: string) => { readonly summary: string } | undefined
  /**
   * Returns the authentication code of a text. All instances return the same code, because any instance may get the
   * payment.
   */
  readonly authenticate: (text: string) => string
  /** Compares in constant time, so that a caller cannot guess the code byte by byte. */
  readonly isAuthentic: (text: string, code: string) => boolean
}

export async function challenge(deps: MppChallengeDeps, offer: Offer): Promise<Challenge | undefined> {
  if (isForOtherRail(deps, offer, 'mpp')) return undefined
  const fresh = await challengeOf(deps, offer, offer.markedBy?.includes('mpp') === true)
  if (fresh === undefined) return undefined
  const instruction = 'pay by MPP as the WWW-Authenticate header says'
  if (!wantsProblem(offer.request)) return { instruction, members: {}, ...fresh }
  const { members, headers: type } = describeOffer()
  return { instruction, members, ...fresh, headers: { ...fresh.headers, ...type } }
}

/**
 * Offers dollars before the token, because the standard client answers the first challenge. Challenges are not stored,
 * because the id of each challenge authenticates its terms.
 */
export async function challengeOf(deps: MppChallengeDeps, offer: Offer, withDollars: boolean) {
  const feePayer = await openFeePayer(deps.feePayer)
  if (feePayer === undefined) return undefined
  const { price } = offer
  const inDollars = withDollars ? await dollarOffers(deps, price, 'mpp') : []
  const ways = [...inDollars, { terms: deps.terms, price }]
  const fresh = ways.map((way) => challengeIn(deps, offer, { ...way, feePayer }))
  const description = deps.describe(offer.product.path)?.summary
  const header = fresh.map((each) => writeChallenge(each, description)).join(', ')
  return { headers: { [challengeHeader]: header }, toolWords: () => ({ meta: toolChallenges(fresh, description) }) }
}

function challengeIn(
  deps: MppChallengeDeps,
  { request, expiresAtMs }: Offer,
  { terms, price, feePayer }: DollarOffer & { readonly feePayer: Address },
): MppChallenge {
  const amount = amountToSend(terms, price.requiredBaseUnits).toString()
  const charge = deps.offerTexts.of(price, `${terms.mint} ${amount} ${feePayer}`, ({ memo }) =>
    canonicalJson(chargeOf(terms, { amount, feePayer, memo })),
  )
  const binding = newBinding()
  const parameters: ChallengeParameters = {
    realm: realmOf(deps.serviceUrl()),
    method,
    intent,
    request: encodeText(charge(binding)),
    expires: isoTime(expiresAtMs),
    digest: digestOf(request),
    // The secret whose hash is the memo, and the price list that determines the price of the payment.
    opaque: encodeText(`{"priceList":"${price.priceList}","secret":"${binding.secret}"}`),
  }
  return { id: deps.authenticate(boundText(parameters)), ...parameters }
}

/** Returns the host without its port. Empty if the URL has another form. */
function realmOf(serviceUrl: string): string {
  return /^https?:\/\/(\[[^\]]*\]|[^:/]*)/.exec(serviceUrl)?.[1] ?? ''
}

interface Sponsorship {
  readonly amount: string
  readonly feePayer: Address
  readonly memo: string
}

/**
 * The request declares a fee payer, so the client must not send the transaction itself. The standard client writes
 * `externalId` on chain as the memo.
 */
function chargeOf(terms: DollarOffer['terms'], { amount, feePayer, memo }: Sponsorship) {
  return {
    amount,
    currency: terms.mint,
    recipient: terms.paymentWallet,
    externalId: memo,
    methodDetails: {
      network: clusterOf(terms.network) ?? 'localnet',
      decimals: terms.decimals,
      tokenProgram: terms.tokenProgram,
      feePayer: true,
      feePayerKey: feePayer,
    },
  }
}

/** Binds the challenge to the body. Undefined without a body. */
export function digestOf(request: OrderRequest): string | undefined {
  const digest = request.bodyDigest()
  return digest === undefined ? undefined : `sha-256=${encodeBase64(digest)}`
}
