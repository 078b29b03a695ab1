import type { Product } from '../product/product.ts'
import { type Answer, isAnswer, type Refused, type StreamedAnswer } from './answer.ts'
import type { PaidRequest } from './paidRequest.ts'
import { identifyCaller } from './identifyCaller.ts'
import { isRefusal, type Refusal, refuse } from '@tollbook/core/refusal'
import { findReplay, readIdempotencyKey, settlementInLedger } from './replay.ts'
import type { ListedPrice } from '@tollbook/core/quote'
import { issueOffer, type OfferDeps, unpriced } from './issueOffer.ts'
import { isFinal, type PaymentState } from '../payment/payment.ts'
import { mayUse } from '../payment/paymentUse.ts'
import { type LookUpDeps, lookUpPayment } from './lookUpPayment.ts'
import { type ClaimDeps, claimedPayment, claimPayment, deliver, release } from './claim.ts'
import { type HandlerDeps, runHandler } from './runHandler.ts'
import { startStream } from './streamAnswer.ts'
import { sendReceipt, type SignReceipt } from './sendReceipt.ts'
import { Fault } from '@tollbook/core/fault'

export interface Paywall extends OfferDeps, LookUpDeps, ClaimDeps, HandlerDeps {
  readonly currentPrice: (endpoint: string) => ListedPrice | undefined
  /** Reason why nothing is sold: the ledger is not durable, no node answers, or the server is shutting down. */
  readonly whyClosed: () => string | undefined
  /** Reason why no quotes are made, although who has paid is served: no node could show a new payment. */
  readonly whyNoQuotes: () => string | undefined
  /** Reason why sales wait for the chain: too much was served for payments that are not final. */
  readonly whyExposed: () => Promise<string | undefined>
  readonly signReceipt: SignReceipt
  /** Writes to the operator's log. The caller only learns that the outcome is unknown. */
  readonly onFault: (fault: Fault, requestId: string) => void
}

export type Sold = Answer | StreamedAnswer | Refused

/** A paid request from top to bottom. Every decision about it is an `if` in this function. */
export async function sell(deps: Paywall, product: Product, request: PaidRequest): Promise<Sold> {
  // Everything that can be refused for free is refused before a payment is asked for or read.
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
    // No proof: an offer on every rail.
    if (rail === undefined) {
      const price = deps.currentPrice(ordered.endpoint)
      if (price === undefined) return refuseClosed(unpriced)
      const unsold = deps.whyNoQuotes() ?? (await deps.whyExposed())
      if (unsold !== undefined) return refuseClosed(unsold)
      return request.limitQuotes(payer) ?? (await issueOffer(deps, { request, product, payer, price, ordered }))
    }

    // A proof: what is it, what does the ledger know of it, and what does it prove?
    const presented = rail.read(request)
    if (isRefusal(presented)) return presented
    using _work = deps.serving.enter(presented.proof.reference)
    const found = await lookUpPayment(deps, { rail, presented, product, ordered, idempotencyKey })
    if (isRefusal(found)) return found
    const { known, proof, order } = found
    let { payment } = known // Newer after a step that the rail records itself.
    const refused = (refusal: Refusal): Refused => ({ ...refusal, payment })
    const replay = findReplay(known, { rail, proof, order })
    if (isRefusal(replay)) return refused(replay)
    if (replay !== undefined) return await sendReceipt({ ...deps, rail }, replay)
    const unusable = mayUse(payment, order, deps.clock.nowMs())
    if (unusable !== undefined) return refused(unusable)
    const exposed = isFinal(payment) ? undefined : await deps.whyExposed()
    if (exposed !== undefined) return refused(refuseClosed(exposed))
    const recorded = found.settlement ?? settlementInLedger(payment, { rail, proof })
    const onRecorded = (after: PaymentState) => void (payment = after)
    const settlement = recorded ?? request.limitLookups() ?? (await rail.settle({ proof, order, payment, onRecorded }))
    if (isRefusal(settlement)) return refused(settlement)

    // The claim is committed before the handler runs. From here on the caller gets an answer or keeps the proof.
    const claim = await claimPayment(deps, { order, settlement, payment, idempotencyKey })
    if (isRefusal(claim)) return refused(claim)
    request.onClaimed(claimedPayment(claim))
    const outcome = await runHandler(deps, ordered, { ...claim, requestId: request.requestId })
    if (outcome.kind === 'stream') return await startStream({ ...deps, rail }, claim, outcome)
    if (outcome.kind !== 'delivered') return await release(deps, claim, outcome)

    // A whole answer is committed before it is sent: a 2xx and a RequestFulfilled are one to one.
    const sale = await deliver(deps, claim, outcome)
    return isRefusal(sale) ? sale : await sendReceipt({ ...deps, rail }, sale)
  } catch (error) {
    // The outcome is unknown. A 402 would make the caller pay again, so it is never a 402 (I8); the proof stays valid.
    if (!(error instanceof Fault && error.retryable)) throw error
    deps.onFault(error, request.requestId)
    return refuse(rail === undefined ? 'ENDPOINT_UNAVAILABLE' : 'PAYMENT_PENDING', unknownOutcome, 2)
  }
}

const unknownOutcome = 'the outcome is unknown; repeat the same request, with the same proof if you sent one'
const refuseClosed = (why: string) => refuse('ENDPOINT_UNAVAILABLE', why, 5)
