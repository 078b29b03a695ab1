import type { Address } from '@tollbook/core/address'
import { encodeBase64 } from '@tollbook/core/base64'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { Challenge, Offer, OrderRequest } from '../../paywall/rail.ts'
import { type FeePayer, openFeePayer } from '../sponsored/feePayer.ts'
import { newBinding, type OfferTexts } from '../sponsored/offerText.ts'
import { amountToSend } from '../sponsored/priceOfList.ts'
import { describeOffer, wantsProblem } from './problem.ts'
import { toolChallenge } from './toolPayment.ts'
import {
  boundText,
  challengeHeader,
  type ChallengeParameters,
  encodeText,
  intent,
  method,
  writeChallenge,
} from './wire.ts'

export interface MppChallengeDeps {
  readonly feePayer: FeePayer
  readonly terms: PaymentTerms
  /** Prepared texts of this rail's offers. */
  readonly offerTexts: OfferTexts
  /** Origin of the service for callers. Its host is the realm. */
  readonly serviceUrl: () => string
  readonly describe: (path: string) => { readonly summary: string } | undefined
  /** Returns the authentication code of a text. All instances of the service return the same code. */
  readonly authenticate: (text: string) => string
  /** True if this is the code of the text. A wrong code always takes the same time. */
  readonly isAuthentic: (text: string, code: string) => boolean
}

/** Creates this rail's challenge. Undefined while the fee payer does not sign. */
export async function challenge(deps: MppChallengeDeps, offer: Offer): Promise<Challenge | undefined> {
  const fresh = await challengeOf(deps, offer)
  if (fresh === undefined) return undefined
  const instruction = 'pay by MPP as the WWW-Authenticate header says'
  if (!wantsProblem(offer.request)) return { instruction, members: {}, ...fresh }
  const { members, headers: type } = describeOffer()
  return { instruction, members, ...fresh, headers: { ...fresh.headers, ...type } }
}

/**
 * Returns the header and the words for tools with a fresh challenge. The challenge is not stored, because its id is the
 * code of its other parameters.
 */
export async function challengeOf(deps: MppChallengeDeps, offer: Offer) {
  const feePayer = await openFeePayer(deps.feePayer)
  if (feePayer === undefined) return undefined
  const { price, product, request, expiresAtMs } = offer
  const amount = amountToSend(deps.terms, price.requiredBaseUnits).toString()
  const charge = deps.offerTexts.of(price, `${amount} ${feePayer}`, ({ memo }) =>
    canonicalJson(chargeOf(deps, { amount, feePayer, memo })),
  )
  const binding = newBinding()
  const parameters: ChallengeParameters = {
    realm: realmOf(deps.serviceUrl()),
    method,
    intent,
    request: encodeText(charge(binding)),
    expires: isoTime(expiresAtMs),
    digest: digestOf(request),
    // The secret behind the memo, and the price list whose prices are valid for the payment.
    opaque: encodeText(`{"priceList":"${price.priceList}","secret":"${binding.secret}"}`),
  }
  const fresh = { id: deps.authenticate(boundText(parameters)), ...parameters }
  const description = deps.describe(product.path)?.summary
  const toolWords = () => ({ meta: toolChallenge(fresh, description) })
  return { headers: { [challengeHeader]: writeChallenge(fresh, description) }, toolWords }
}

/** Returns the host without its port. The URL is the operator's and was checked at the start. */
function realmOf(serviceUrl: string): string {
  return /^https?:\/\/(\[[^\]]*\]|[^:/]*)/.exec(serviceUrl)?.[1] ?? ''
}

interface Sponsorship {
  readonly amount: string
  readonly feePayer: Address
  readonly memo: string
}

/**
 * Returns the request of method `solana`, intent `charge`. With a fee payer, the client must not send the payment
 * itself. The standard client writes `externalId` on chain as the memo.
 */
function chargeOf({ terms }: MppChallengeDeps, { amount, feePayer, memo }: Sponsorship) {
  return {
    amount,
    currency: terms.mint,
    recipient: terms.paymentWallet,
    externalId: memo,
    methodDetails: {
      network: networks[terms.network] ?? 'localnet',
      decimals: terms.decimals,
      tokenProgram: terms.tokenProgram,
      feePayer: true,
      feePayerKey: feePayer,
    },
  }
}

const networks: Readonly<Record<string, string>> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'mainnet-beta',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'devnet',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z': 'testnet',
}

/** Returns the `digest` parameter, which binds the challenge to the body. Undefined without a body. */
export function digestOf(request: OrderRequest): string | undefined {
  const digest = request.bodyDigest()
  return digest === undefined ? undefined : `sha-256=${encodeBase64(digest)}`
}
