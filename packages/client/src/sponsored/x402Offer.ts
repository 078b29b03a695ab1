import { z } from 'zod'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { utf8Bytes } from '@tollbook/core/bytes'
import { randomToken } from '@tollbook/core/id'
import { parseJson } from '../readBody.ts'
import { addressText, amountText, headerCharactersMax } from './offerText.ts'
import { type OfferQuestion, preferred, type SponsoredOffer } from './sponsoredOffer.ts'

/*
 * Reads the offer of x402 version 2 from the header PAYMENT-REQUIRED, which is standard base64 of JSON (page "HTTP
 * transport" of the specification). For a tool, reads it from the result of the call (page "MCP transport").
 */

const exactOnSolana = z.looseObject({
  scheme: z.literal('exact'),
  network: z.string().startsWith('solana:'),
  amount: amountText,
  asset: addressText,
  payTo: addressText,
  maxTimeoutSeconds: z.number().positive(),
  extra: z.looseObject({ feePayer: addressText, memo: z.string().max(256).optional() }),
})
const paymentRequired = z.object({
  x402Version: z.literal(2),
  resource: z.unknown().optional(),
  accepts: z.array(z.unknown()),
  extensions: z.unknown().optional(),
})

/** Returns the preferred one of several offers. Undefined if none is usable. */
export function readX402Offer(question: OfferQuestion): SponsoredOffer | undefined {
  const { headers, tool } = question
  const required = paymentRequired.safeParse(tool === undefined ? readHeader(headers) : tool.x402).data
  if (required === undefined) return undefined
  const { resource, extensions, accepts } = required
  const offers = accepts.flatMap((accepted): readonly SponsoredOffer[] => {
    const { data } = exactOnSolana.safeParse(accepted)
    if (data === undefined) return []
    const { network, asset: mint, payTo, extra, amount: amountBaseUnits } = data
    return [
      {
        protocol: 'x402',
        network,
        mint,
        payTo,
        feePayer: extra.feePayer,
        amountBaseUnits,
        // Use a random memo by default, because two equal payments with the same blockhash would be one transaction.
        memo: extra.memo ?? randomToken(),
        lifetimeMs: data.maxTimeoutSeconds * 1000,
        ...(tool === undefined ? {} : { inMeta: true }),
        encode(transaction) {
          const payload = { transaction: encodeBase64(transaction) }
          // The client must echo the whole offer, so `accepted` keeps its unknown members.
          const payment = { x402Version: 2, resource, accepted, payload, extensions }
          const text = encodeBase64(utf8Bytes(JSON.stringify(payment)))
          if (tool === undefined) return text
          return JSON.stringify({ 'x402/payment': tool.isX402Text === true ? text : payment })
        },
      },
    ]
  })
  return preferred(offers, question)
}

function readHeader(headers: Headers): unknown {
  const text = headers.get('payment-required') ?? ''
  const bytes = text.length <= headerCharactersMax ? readBase64(text) : undefined
  return bytes && parseJson(bytes)
}
