import { z } from 'zod'
import { encodeBase64 } from '@tollbook/core/base64'
import { fromBase64Url, toBase64Url, utf8Bytes } from '@tollbook/core/bytes'
import { networkOf } from '@tollbook/core/networks'
import { parseJson } from '../readBody.ts'
import { addressText, amountText, headerCharactersMax } from './offerText.ts'
import { type OfferQuestion, preferred, type SponsoredOffer } from './sponsoredOffer.ts'

/*
 * Reads the challenge of MPP from WWW-Authenticate: the scheme "Payment" with parameters. The parameter `request` is
 * the charge: base64url of JSON. A tool has its challenges in JSON, with the charge as an object.
 */

const charge = z.object({
  amount: amountText,
  currency: addressText,
  recipient: addressText,
  externalId: z.string().max(566).optional(),
  methodDetails: z.object({
    network: z.string(),
    feePayer: z.literal(true),
    feePayerKey: addressText,
    // Refuse split payments, because spending limits cover one recipient.
    splits: z.array(z.unknown()).max(0).optional(),
  }),
})
const parameters = z.looseObject({
  id: z.string(),
  method: z.literal('solana'),
  intent: z.literal('charge'),
  request: z.union([z.string(), z.record(z.string(), z.unknown())]),
  expires: z.iso.datetime({ offset: true }).optional(),
})

// Lifetime of an offer without `expires`. A payment for it can land for about the lifetime of a blockhash.
const lifetimeMsDefault = 60_000

export function readMppOffer(question: OfferQuestion): SponsoredOffer | undefined {
  const { headers, tool } = question
  const challenges =
    tool === undefined ? readChallenges(headers.get('www-authenticate') ?? '') : (tool.challenges ?? [])
  const offers = challenges.flatMap((challenge) => {
    const { data } = parameters.safeParse(challenge)
    const offer = data && readCharge(data, question)
    return offer === undefined ? [] : [offer]
  })
  return preferred(offers, question)
}

function readCharge(
  challenge: z.infer<typeof parameters>,
  { tool, answeredAtMs }: OfferQuestion,
): SponsoredOffer | undefined {
  const { request } = challenge
  const bytes = typeof request === 'string' ? fromBase64Url(request) : undefined
  const asked = charge.safeParse(bytes === undefined ? request : parseJson(bytes)).data
  if (asked === undefined) return undefined
  const { amount, currency, recipient, externalId, methodDetails } = asked
  return {
    protocol: 'mpp',
    network: networkOf(methodDetails.network),
    mint: currency,
    payTo: recipient,
    feePayer: methodDetails.feePayerKey,
    amountBaseUnits: amount,
    memo: externalId,
    lifetimeMs: challenge.expires === undefined ? lifetimeMsDefault : Date.parse(challenge.expires) - answeredAtMs,
    ...(tool === undefined ? {} : { inMeta: true }),
    encode: (transaction) => {
      const credential = { challenge, payload: { type: 'transaction', transaction: encodeBase64(transaction) } }
      if (tool !== undefined) return JSON.stringify({ 'org.paymentauth/credential': credential })
      return `Payment ${toBase64Url(utf8Bytes(JSON.stringify(credential)))}`
    },
  }
}

const piece = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([\w-]+)(?=[\s,]|$)/g

/** Returns the parameters of challenges with the scheme "Payment", in the syntax of RFC 9110, section 11.6.1. */
function readChallenges(header: string): readonly Readonly<Record<string, string>>[] {
  if (header.length > headerCharactersMax) return []
  const challenges: { readonly scheme: string; readonly parameters: Record<string, string> }[] = []
  for (const [, name = '', quoted, plain = '', scheme] of header.matchAll(piece)) {
    if (scheme !== undefined) challenges.push({ scheme: scheme.toLowerCase(), parameters: {} })
    const last = challenges.at(-1)
    if (scheme === undefined && last !== undefined) last.parameters[name] = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain
  }
  return challenges.filter(({ scheme }) => scheme === 'payment').map((challenge) => challenge.parameters)
}
