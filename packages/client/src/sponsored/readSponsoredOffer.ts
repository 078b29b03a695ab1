import { readMppOffer } from './mppOffer.ts'
import type { OfferQuestion, SponsoredOffer, SponsoredProtocol } from './sponsoredOffer.ts'
import { readX402Offer } from './x402Offer.ts'

const readers: Readonly<Record<SponsoredProtocol, (question: OfferQuestion) => SponsoredOffer | undefined>> = {
  x402: readX402Offer,
  mpp: readMppOffer,
}

/** The offer of the first protocol that has one. Undefined if none of them can pay the 402. */
export function readSponsoredOffer(question: OfferQuestion): SponsoredOffer | undefined {
  for (const protocol of question.protocols) {
    const offer = readers[protocol](question)
    if (offer !== undefined) return offer
  }
  return undefined
}
