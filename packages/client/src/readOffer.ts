import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { parseJson, readBody } from './readBody.ts'

/** A 402 with an offer, unchecked. */
export interface Offer {
  readonly body: unknown
  /** Time at which it was made, on the clock of its maker: the payer's own may be minutes off. */
  readonly answeredAtMs: number
}

const offer = z.object({ code: z.literal('PAYMENT_REQUIRED') })
const offerBytesMax = 64 * 1024

/** The offer, or the answer as it came when it is none. */
export async function readOffer(response: Response, clock: Clock): Promise<Offer | Response> {
  if (response.status !== 402) return response
  const { status, headers } = response
  const bytes = await readBody(response, offerBytesMax)
  const body = parseJson(bytes)
  if (!offer.safeParse(body).success) return new Response(bytes, { status, headers })
  const datedMs = Date.parse(headers.get('date') ?? '')
  return { body, answeredAtMs: Number.isNaN(datedMs) ? clock.nowMs() : datedMs }
}
