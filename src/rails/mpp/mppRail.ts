import { isRefusal } from '@tollbook/core/refusal'
import type { PaymentRail } from '../../paywall/rail.ts'
import { checkSecret } from '../solana/checkSecret.ts'
import type { SponsoredProof } from '../sponsored/presentSponsored.ts'
import { isPermanent } from '../sponsored/settleSponsored.ts'
import type { SponsoredPayments } from '../sponsored/sponsoredPayments.ts'
import { challenge, challengeOf, type MppChallengeDeps } from './challenge.ts'
import { describeRefusal, wantsProblem } from './problem.ts'
import { type MppReadDeps, readPayment } from './readPayment.ts'
import {
  acceptsCharge,
  bringsCredential,
  challengeHeader,
  credentialHeader,
  encodeJson,
  intent,
  method,
  namesScheme,
  preferenceHeader,
  receiptHeader,
} from './wire.ts'

export interface MppRailDeps extends MppChallengeDeps, MppReadDeps {}

/**
 * MPP, method `solana`, intent `charge`: the "Payment" scheme of HTTP authentication. The client signs a transfer of the whole
 * price and never sends it (pull): the fee payer signs as well, and we send it. Its burn is owed.
 */
export function createMppRail(payments: SponsoredPayments, deps: MppRailDeps): PaymentRail<SponsoredProof> {
  return {
    name: 'mpp',
    charge: { method, intent },
    secretHeaders: [credentialHeader],
    requestHeaders: [credentialHeader, preferenceHeader],
    responseHeaders: [challengeHeader, receiptHeader],
    carriesProof: (request) => bringsCredential(request.header(credentialHeader) ?? ''),
    identify(request) {
      const isMarked =
        acceptsCharge(request.header(preferenceHeader) ?? '') || namesScheme(request.header(credentialHeader) ?? '')
      return isMarked ? { payer: undefined } : undefined
    },
    challenge: (offer) => challenge(deps, offer),
    async read(request, endpoint) {
      const payment = await readPayment(deps, request, endpoint)
      return isRefusal(payment) ? payment : payments.present(payment)
    },
    checkHolder: checkSecret,
    settle: (question) => payments.settle(question),
    respond: ({ signature, issuedAt }) => ({
      [receiptHeader]: encodeJson({ method, reference: signature, status: 'success', timestamp: issuedAt }),
    }),
    async explain(refusal, offer) {
      // Anything but a refusal for good would be answered with a second payment.
      const fresh = isPermanent(refusal) ? await challengeOf(deps, offer) : {}
      if (!wantsProblem(offer.request)) return { headers: { ...fresh } }
      const { headers, members } = describeRefusal(refusal)
      return { headers: { ...fresh, ...headers }, members }
    },
  }
}
