import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { parseJson, readBody } from './readBody.ts'
import { readMppOffer } from './sponsored/mppOffer.ts'
import type { OfferQuestion, SponsoredOffer } from './sponsored/sponsoredOffer.ts'
import { readToolOffers } from './sponsored/toolOffer.ts'
import { readX402Offer } from './sponsored/x402Offer.ts'

/** The offer of a 402, not checked yet. */
export interface Offer {
  readonly body: unknown
  /** The offer of another protocol, if the 402 has none of Tollbook in the expected mint. */
  readonly sponsored?: SponsoredOffer
  /** Time of the offer on the service's clock; the payer's may be minutes off. */
  readonly answeredAtMs: number
}

const offer = z.object({ code: z.literal('PAYMENT_REQUIRED'), tokenMint: z.string().optional().catch(undefined) })
const offerBytesMax = 64 * 1024

export interface OfferReader extends Pick<OfferQuestion, 'protocols' | 'mint' | 'dollarMints'> {
  readonly clock: Clock
  /** The request is a call of a tool, whose offers are in its message. */
  readonly isTool: boolean
}

/** Returns the answer as it came if it has no offer. */
export async function readOffer(response: Response, reader: OfferReader): Promise<Offer | Response> {
  if (response.status !== 402) return response
  const { status, headers } = response
  const bytes = await readBody(response, offerBytesMax)
  const body = parseJson(bytes)
  const datedMs = Date.parse(headers.get('date') ?? '')
  const answeredAtMs = Number.isNaN(datedMs) ? reader.clock.nowMs() : datedMs
  const { data: native } = offer.safeParse(body)
  const { mint, dollarMints = [] } = reader
  const takesNative = mint === undefined ? dollarMints.length === 0 : native?.tokenMint === mint
  if (native !== undefined && takesNative) return { body, answeredAtMs }
  const tool = reader.isTool ? readToolOffers(body) : undefined
  const sponsored = readSponsoredOffer({ ...reader, tool, headers, answeredAtMs })
  // A service may be paid in dollars by other protocols only.
  const isOfReader = sponsored !== undefined && (sponsored.mint === mint || dollarMints.includes(sponsored.mint))
  if (native !== undefined && !isOfReader) return { body, answeredAtMs }
  return sponsored === undefined ? new Response(bytes, { status, headers }) : { body, answeredAtMs, sponsored }
}

const readers = { x402: readX402Offer, mpp: readMppOffer } as const

/** The offer of the first protocol that has one. Undefined if none of them can pay the 402. */
function readSponsoredOffer(question: OfferQuestion): SponsoredOffer | undefined {
  for (const protocol of question.protocols) {
    const offer = readers[protocol](question)
    if (offer !== undefined) return offer
  }
  return undefined
}
