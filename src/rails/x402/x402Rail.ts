import type { PaymentRail } from '../../paywall/rail.ts'
import type { SponsoredProof } from '../sponsored/sponsoredProof.ts'
import { isPermanent } from '../../payment/newPayment.ts'
import { requireSignature } from '../../payment/paymentReference.ts'
import type { SponsoredPayments } from '../sponsored/sponsoredPayments.ts'
import { challenge, mount, paymentRequired, type X402ChallengeDeps } from './challenge.ts'
import { type X402ReadDeps, readPayment } from './readPayment.ts'
import { type OfferReceiptDeps, receiptExtension } from './offerReceipt.ts'
import { readIdentifier } from './paymentIdentifier.ts'
import { sampleProgram } from './sampleProgram.ts'
import { toolResponse, x402Meta } from './toolPayment.ts'
import { encodeHeader, paymentHeader, readPayload, requiredHeader, responseHeader } from './wire.ts'
import { x402ErrorOf } from './x402Refusal.ts'

export interface X402RailDeps extends X402ChallengeDeps, X402ReadDeps, OfferReceiptDeps {}

/**
 * Creates the rail for x402 version 2, scheme `exact` on Solana, flow `upfront`. The client signs a transfer of the
 * whole price, and the service sends it. The service pays the network fee and owes the burn.
 */
export function createX402Rail(payments: SponsoredPayments, deps: X402RailDeps): PaymentRail<SponsoredProof> {
  return {
    ...payments,
    name: 'x402',
    description: {
      protocol: 'x402',
      request: `to \`${mount}\` + path`,
      mount,
      sample: (fetchArguments) => sampleProgram({ network: deps.network, mint: deps.terms.mint }, fetchArguments),
    },
    meta: x402Meta,
    secretHeaders: [paymentHeader],
    // Allow `access-control-expose-headers`, because the standard client sends it as a request header.
    requestHeaders: [paymentHeader, 'access-control-expose-headers'],
    responseHeaders: [requiredHeader, responseHeader],
    carriesProof: (request) => request.header(paymentHeader) !== undefined,
    identify(request) {
      const isMarked = request.mount === mount || request.header(paymentHeader) !== undefined
      return isMarked ? { payer: undefined } : undefined
    },
    challenge: (offer) => challenge(deps, offer),
    read: (request) => readPayment(deps, request.header(paymentHeader) ?? ''),
    idempotencyKey: (request) => readIdentifier(readPayload(request.header(paymentHeader) ?? '')?.extensions),
    respond(paid) {
      const { reference, wallet: payer } = paid.settlement
      const transaction = requireSignature(reference)
      const extensions = receiptExtension(deps, paid)
      return {
        [responseHeader]: encodeHeader({ success: true, transaction, network: deps.network, payer, extensions }),
      }
    },
    async explain(refusal, { offer }) {
      const errorReason = x402ErrorOf(refusal)
      if (!isPermanent(refusal)) return { headers: {} }
      const failure = { success: false, errorReason, transaction: '', network: deps.network }
      // Add a fresh offer, so that a client can pay again at once.
      const style = { error: errorReason, withDollars: true }
      const required = offer === undefined ? undefined : await paymentRequired(deps, offer, style)
      return {
        headers: { ...required?.headers, [responseHeader]: encodeHeader(failure) },
        toolWords: () => ({ ...required?.toolWords(), meta: { [toolResponse]: failure } }),
      }
    },
  }
}
