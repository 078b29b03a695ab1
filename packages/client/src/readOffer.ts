import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { parseJson, readBody } from './readBody.ts'
import { readMppOffer } from './sponsored/mppOffer.ts'
import { type OfferQuestion, preferred, type SponsoredOffer } from './sponsored/sponsoredOffer.ts'
import { readToolOffers } from './sponsored/toolOffer.ts'
import { readX402Offer } from './sponsored/x402Offer.ts'

export interface Offer {
  /** Not validated: `checkQuote` does that. */
  readonly body: unknown
  /** Offer of another payment protocol. Present if the 402 has no Tollbook offer in the expected mint. */
  readonly sponsored?: SponsoredOffer
  /**
   * Time of the offer in Unix milliseconds, from the `date` header of the service, because the payer's clock may differ
   * by minutes. Without the header, the time of the payer's clock.
   */
  readonly answeredAtMs: number
}

const offer = z.object({ code: z.literal('PAYMENT_REQUIRED'), tokenMint: z.string().optional().catch(undefined) })
const offerBytesMax = 64 * 1024

export interface OfferReader extends Pick<OfferQuestion, 'protocols' | 'mint' | 'dollarMints'> {
  readonly clock: Clock
  /** True if the request is a tool call. The offers are then in its JSON-RPC message. */
  readonly isTool: boolean
}

/** Returns the response, with its status, if it has no offer. */
export async function readOffer(response: Response, reader: OfferReader): Promise<Offer | Response> {
  if (response.status !== 402) return response
  const { status, headers } = response
  const bytes = await readBody(response, offerBytesMax)
  const body = parseJson(bytes)
  const datedMs = Date.parse(headers.get('date') ?? '')
  const answeredAtMs = Number.isNaN(datedMs) ? reader.clock.nowMs() : datedMs
  const { data: native } = offer.safeParse(body)
  const { mint, dollarMints = [] } = reader
  if (native?.tokenMint !== undefined && native.tokenMint === mint) return { body, answeredAtMs }
  const tool = reader.isTool ? readToolOffers(body) : undefined
  const sponsored = readSponsoredOffer({ ...reader, tool, headers, answeredAtMs })
  // Accept the other protocol if its offer is in an accepted mint, because some services take dollars only by other
  // protocols.
  const isOfReader = sponsored !== undefined && (sponsored.mint === mint || dollarMints.includes(sponsored.mint))
  if (native !== undefined && !isOfReader) return { body, answeredAtMs }
  return sponsored === undefined ? new Response(bytes, { status, headers }) : { body, answeredAtMs, sponsored }
}

const readers = { x402: readX402Offer, mpp: readMppOffer } as const

function readSponsoredOffer(question: OfferQuestion): SponsoredOffer | undefined {
  const offers = question.protocols.flatMap((protocol) => readers[protocol](question) ?? [])
  return preferred(offers, question)
}
