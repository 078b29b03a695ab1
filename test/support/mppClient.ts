import { charge, Mppx } from '@solana/mpp/client'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import type { Keypair } from '@solana/web3.js'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'

export interface MppClientOptions {
  readonly rpcUrl: string
  readonly inner?: typeof fetch
}

/** The stock client of MPP, as its documentation shows it. */
export async function mppClient(wallet: Keypair, { rpcUrl, inner = globalThis.fetch }: MppClientOptions) {
  const signer = await createKeyPairSignerFromBytes(wallet.secretKey)
  return Mppx.create({ methods: [charge({ signer, rpcUrl })], polyfill: false, fetch: inner })
}

export async function mppFetch(wallet: Keypair, options: MppClientOptions): Promise<typeof fetch> {
  const client = await mppClient(wallet, options)
  // The client writes its headers into the caller's object.
  return (input, init) => client.fetch(input, { ...init })
}

const fromBase64 = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64').toString())

const credentialShape = z.object({
  challenge: z.object({ opaque: z.string() }),
  payload: z.object({ transaction: z.string() }),
})
const opaqueShape = z.object({ secret: z.string(), priceList: z.string() })
const requiredShape = z.looseObject({
  accepts: z.tuple([z.looseObject({ extra: z.looseObject({}) })]),
})

/** One payment, written down for each rail. */
export interface EveryRail {
  readonly transaction: string
  readonly secret: string
  readonly headers: {
    readonly mpp: { readonly authorization: string }
    readonly x402: { readonly 'payment-signature': string }
  }
}

/** Pays the MPP offer of a 402, and presents the same transaction as a payment of its x402 offer, too. */
export async function signForEveryRail(wallet: Keypair, rpcUrl: string, offer: Response): Promise<EveryRail> {
  const authorization = await (await mppClient(wallet, { rpcUrl })).createCredential(offer)
  const { challenge, payload } = credentialShape.parse(fromBase64(authorization.replace(/^Payment /, '')))
  const { transaction } = payload
  const { secret, priceList } = opaqueShape.parse(fromBase64(challenge.opaque))
  const required = assertPresent(offer.headers.get('payment-required') ?? undefined, 'the 402 has an x402 offer')
  const [accepted] = requiredShape.parse(fromBase64(required)).accepts
  const extra = { ...accepted.extra, secret, priceList: Number(priceList) }
  const payment = { x402Version: 2, accepted: { ...accepted, extra }, payload: { transaction } }
  const x402 = { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') }
  return { transaction, secret, headers: { mpp: { authorization }, x402 } }
}
