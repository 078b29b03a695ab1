import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { parseJson, readBody } from './readBody.ts'
import { readSponsoredOffer } from './sponsored/readSponsoredOffer.ts'
import type { OfferQuestion, SponsoredOffer } from './sponsored/sponsoredOffer.ts'

/** A 402 with an offer, unchecked. */
export interface Offer {
  readonly body: unknown
  /** The offer of another protocol, when it is not one of Tollbook. */
  readonly sponsored?: SponsoredOffer
  /** Time at which it was made, on the clock of its maker: the payer's own may be minutes off. */
  readonly answeredAtMs: number
}

const offer = z.object({ code: z.literal('PAYMENT_REQUIRED') })
const offerBytesMax = 64 * 1024

/** Choices of the payer among the offers of a 402. */
export interface OfferReader extends Pick<OfferQuestion, 'protocols' | 'mint'> {
  readonly clock: Clock
}

/** The offer, or the answer as it came when it is none. */
export async function readOffer(response: Response, reader: OfferReader): Promise<Offer | Response> {
  if (response.status !== 402) return response
  const { status, headers } = response
  const bytes = await readBody(response, offerBytesMax)
  const body = parseJson(bytes)
  const datedMs = Date.parse(headers.get('date') ?? '')
  const answeredAtMs = Number.isNaN(datedMs) ? reader.clock.nowMs() : datedMs
  if (offer.safeParse(body).success) return { body, answeredAtMs }
  const sponsored = readSponsoredOffer({ ...reader, headers, answeredAtMs })
  return sponsored === undefined ? new Response(bytes, { status, headers }) : { body, answeredAtMs, sponsored }
}
