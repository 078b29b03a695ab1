import { z } from 'zod'
import { encodeBase64 } from '@tollbook/core/base64'
import { utf8Bytes } from '@tollbook/core/bytes'
import { parseJson } from '@tollbook/core/json'
import { headerCharactersMax } from './offerText.ts'
import { protocolHeaders, type ToolOffers } from './sponsoredOffer.ts'

/*
 * Offers and receipts of x402 version 2 and of MPP in MCP messages. An unpaid call has its offers in the result, or in
 * MPP also in an error. The payment is in `_meta` of the repeated call, and the receipt in `_meta` of its result.
 */

const x402Offer = z.looseObject({ x402Version: z.number(), accepts: z.array(z.unknown()) })
const mppOffer = z.object({ challenges: z.array(z.unknown()).min(1) })
const unpaidMessage = z.object({
  result: z
    .object({
      isError: z.boolean().optional(),
      structuredContent: z.unknown().optional(),
      content: z.array(z.object({ text: z.string().optional() })).optional(),
      _meta: z.record(z.string(), z.unknown()).default({}),
    })
    .optional(),
  // Error codes of MPP: payment required, and payment verification failed.
  error: z.object({ code: z.literal([-32042, -32043]), data: mppOffer }).optional(),
})

export function readToolOffers(message: unknown): ToolOffers | undefined {
  const { data } = unpaidMessage.safeParse(message)
  if (data === undefined) return undefined
  const { isError = false, structuredContent, content: [first] = [], _meta = {} } = data.result ?? {}
  const inMeta = x402Offer.safeParse(_meta['x402/error']).data
  const inResult = isError ? [structuredContent, parseJson(first?.text ?? '')] : []
  const x402 = inMeta ?? inResult.find((each) => x402Offer.safeParse(each).success)
  const mpp = data.error?.data ?? mppOffer.safeParse(_meta['org.paymentauth/payment-required']).data
  if (x402 === undefined && mpp === undefined) return undefined
  return {
    ...(x402 === undefined ? {} : { x402, isX402Text: inMeta !== undefined }),
    ...(mpp === undefined ? {} : { challenges: mpp.challenges }),
  }
}

const receiptMembers = { x402: 'x402/payment-response', mpp: 'org.paymentauth/receipt' } as const

/** Converts the confirmation of a payment in `_meta` to the headers that confirm a payment over HTTP. */
export function settledHeaders(meta: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  return (['x402', 'mpp'] as const).flatMap((protocol) => {
    const receipt = meta[receiptMembers[protocol]]
    const text = receipt === undefined ? '' : encodeBase64(utf8Bytes(JSON.stringify(receipt)))
    const fits = text !== '' && text.length <= headerCharactersMax
    return fits ? [[protocolHeaders[protocol].settled, text] as const] : []
  })
}
