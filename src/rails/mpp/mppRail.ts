import { isoTime } from '@tollbook/core/clock'
import { requireSignature } from '../../payment/paymentReference.ts'
import type { PaymentRail } from '../../paywall/rail.ts'
import type { SponsoredProof } from '../sponsored/sponsoredProof.ts'
import type { SponsoredPayments } from '../sponsored/sponsoredPayments.ts'
import { challenge, challengeOf, type MppChallengeDeps } from './challenge.ts'
import { describeRefusal, wantsProblem } from './problem.ts'
import { type MppReadDeps, readPayment } from './readPayment.ts'
import { sampleProgram } from './sampleProgram.ts'
import { mppMeta } from './toolPayment.ts'
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
 * Creates the rail for method `solana`, intent `charge` of the "Payment" scheme of HTTP authentication, in pull mode.
 * The client signs a transfer of the whole price, and the service sends it. The service pays the network fee and owes
 * the burn.
 */
export function createMppRail(payments: SponsoredPayments, deps: MppRailDeps): PaymentRail<SponsoredProof> {
  return {
    ...payments,
    name: 'mpp',
    description: {
      protocol: 'MPP',
      request: `with \`Accept-Payment: ${method}/${intent}\``,
      offer: { method, intent },
      sample: sampleProgram,
    },
    meta: mppMeta,
    secretHeaders: [credentialHeader],
    requestHeaders: [credentialHeader, preferenceHeader],
    responseHeaders: [challengeHeader, receiptHeader],
    carriesProof: (request) => bringsCredential(request.header(credentialHeader) ?? ''),
    identify(request) {
      const isMarked =
        acceptsCharge(request.header(preferenceHeader) ?? '') || namesScheme(request.header(credentialHeader) ?? '')
      return isMarked || request.tool !== undefined ? { payer: undefined } : undefined
    },
    challenge: (offer) => challenge(deps, offer),
    read: (request) => readPayment(deps, request),
    respond({ settlement: { reference, evidence } }) {
      const timestamp = isoTime(evidence.blockTimeMs)
      const receipt = { method, reference: requireSignature(reference), status: 'success', timestamp }
      return { [receiptHeader]: encodeJson(receipt) }
    },
    async explain(refusal, { request, offer }) {
      // Add a fresh challenge, so that a client can pay again at once.
      const fresh = offer === undefined ? undefined : await challengeOf(deps, offer, true)
      if (!wantsProblem(request)) return { headers: {}, ...fresh }
      const { headers, members } = describeRefusal(refusal)
      return { ...fresh, headers: { ...fresh?.headers, ...headers }, members }
    },
  }
}
