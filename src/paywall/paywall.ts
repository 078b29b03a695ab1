import type { Product } from '../product/product.ts'
import { type Answer, isAnswer, type RawAnswer, type Refused, type StreamedAnswer } from './answer.ts'
import type { PaidRequest } from './paidRequest.ts'
import { identifyCaller } from './identifyCaller.ts'
import { isRefusal, type Refusal, refuse } from '@tollbook/core/refusal'
import { findReplay, limitUnknown, readIdempotencyKey, settledBefore } from './replay.ts'
import type { ListedPrice } from '@tollbook/core/quote'
import { issueOffer, type OfferDeps, unpriced } from './issueOffer.ts'
import { type LookUpDeps, lookUpPayment } from './lookUpPayment.ts'
import { mayUse } from '../payment/paymentUse.ts'
import { isFinal } from '../payment/payment.ts'
import { type ClaimDeps, claimedPayment, claimPayment, fulfil, release } from './claim.ts'
import { type HandlerDeps, runHandler } from './runHandler.ts'
import { startStream } from './streamAnswer.ts'
import { sendReceipt, type SignReceipt } from './sendReceipt.ts'
import { Fault } from '@tollbook/core/fault'

export interface Paywall extends OfferDeps, LookUpDeps, ClaimDeps, HandlerDeps {
  readonly currentPrice: (endpoint: string) => ListedPrice | undefined
  /** Returns why nothing is sold, or undefined while sales are open. */
  readonly whyClosed: () => string | undefined
  /** Returns why no quotes are created, for example because the nodes are out. Payers are still served. */
  readonly whyNoQuotes: () => string | undefined
  /** Returns why sales wait: answers for payments that the chain could still drop have reached their limit. */
  readonly whyExposed: () => Promise<string | undefined>
  readonly signReceipt: SignReceipt
  /** Called if the outcome of a request is unknown, because the answer to the client does not contain the fault. */
  readonly onFault: (fault: Fault, requestId: string) => void
}

export type Sold = Answer | RawAnswer | StreamedAnswer | Refused

/** Answers a request with an offer, a refusal or the product. The order of the steps matters. */
export async function sell(deps: Paywall, product: Product, request: PaidRequest): Promise<Sold> {
  // Check the caller and the input first, so that a mistake in the request costs no RPC call, no row and no proof (I9).
  const caller = identifyCaller(deps.rails, request)
  if (isRefusal(caller)) return caller
  const { payer, payingBy: rail } = caller
  const ordered = await request.readParameters()
  if (isAnswer(ordered)) return ordered
  const idempotencyKey = readIdempotencyKey(request, rail)
  if (isRefusal(idempotencyKey)) return idempotencyKey
  const whyNot = rail === undefined ? ordered.whyUnavailable : ordered.whyUndeliverable
  const closed = deps.whyClosed() ?? whyNot(payer)
  if (closed !== undefined) return refuseClosed(closed)
  const missing = ordered.whyNoData()
  if (missing !== undefined) return refuse('NO_DATA', missing)
  try {
    // A request without a proof asks for an offer.
    if (rail === undefined) {
      const price = deps.currentPrice(ordered.endpoint)
      if (price === undefined) return refuseClosed(unpriced)
      const unsold = deps.whyNoQuotes() ?? (await deps.whyExposed())
      if (unsold !== undefined) return refuseClosed(unsold)
      return request.limitQuotes(payer) ?? (await issueOffer(deps, { request, product, payer, price, ordered }))
    }

    const presented = rail.read(request)
    if (isRefusal(presented)) return presented
    using _work = deps.serving.enter(presented.proof.reference)
    const found = await lookUpPayment(deps, { rail, presented, product, ordered, idempotencyKey, request })
    if (isRefusal(found)) return found
    const { known, proof, order } = found
    const refused = (refusal: Refusal, payment = known.payment): Refused => ({ ...refusal, payment })
    const replay = findReplay(known, { rail, proof, order })
    if (isRefusal(replay)) return refused(replay)
    if (replay !== undefined) return await sendReceipt({ ...deps, rail }, replay)
    const unusable = mayUse(known.payment, order, deps.clock.nowMs())
    if (unusable !== undefined) return refused(unusable)
    const exposed = isFinal(known.payment) ? undefined : await deps.whyExposed()
    if (exposed !== undefined) return refused(refuseClosed(exposed))
    const unsettled = { proof, order, payment: known.payment }
    const settled = settledBefore(found, rail) ?? limitUnknown(found, request) ?? (await rail.settle(unsettled))
    if (isRefusal(settled)) return refused(settled)
    const { verdict: settlement, payment } = settled // `payment` is newer than `known` if the rail recorded a step.
    if (isRefusal(settlement)) return refused(settlement, payment)

    // Commit the claim before the handler runs (I2), so that one payment cannot pay for two runs at once.
    const claim = await claimPayment(deps, { order, settlement, payment, idempotencyKey })
    if (isRefusal(claim)) return refused(claim, payment)
    request.onClaimed(claimedPayment(claim))
    const outcome = await runHandler(deps, ordered, { ...claim, requestId: request.requestId })
    if (outcome.kind === 'stream') return await startStream({ ...deps, rail }, claim, outcome)
    if (outcome.kind === 'failed' || outcome.kind === 'broken') return await release(deps, claim, outcome)

    // Commit a complete answer before it is sent, so that its delivery is in the ledger (I26).
    const fulfilment = await fulfil(deps, claim, outcome)
    if (isRefusal(fulfilment)) return fulfilment
    return await sendReceipt({ ...deps, rail }, { ...outcome, fulfilment, replayed: false })
  } catch (error) {
    // The outcome is unknown, and the proof stays valid. Do not return a 402, because the caller could pay again (I8).
    if (!(error instanceof Fault && error.retryable)) throw error
    deps.onFault(error, request.requestId)
    return refuse(rail === undefined ? 'ENDPOINT_UNAVAILABLE' : 'PAYMENT_PENDING', unknownOutcome, 2)
  }
}

const unknownOutcome = 'the outcome is unknown; repeat the same request, with the same proof if you sent one'
const refuseClosed = (why: string) => refuse('ENDPOINT_UNAVAILABLE', why, 5)
