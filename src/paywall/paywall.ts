import { Fault } from '@tollbook/core/fault'
import { isFinal, mayUse, type Order } from '../payment/payment.ts'
import type { Price } from '@tollbook/core/quote'
import { isRefusal, refuse } from '@tollbook/core/refusal'
import { type Answer, isAnswer, refusalAnswer } from './answer.ts'
import type { PaidRequest, Product } from './product.ts'
import { readWallet } from './readWallet.ts'
import { orderDigest } from './orderDigest.ts'
import { issueQuote, type QuoteDeps } from './issueQuote.ts'
import type { PaymentRail } from './rail.ts'
import { findReplay, readIdempotencyKey, settlementInBook } from './replay.ts'
import { type ClaimDeps, claimPayment, refuseOvertaken } from './claimPayment.ts'
import { failureReason, fulfil, type RedeemDeps, release, runHandler } from './redeem.ts'
import { sendReceipt, type SignReceipt } from './sendReceipt.ts'

export interface Paywall extends QuoteDeps, ClaimDeps, RedeemDeps {
  readonly rails: readonly PaymentRail[]
  readonly currentPrice: (endpoint: string) => Price | undefined
  /** Why nothing is sold at the moment: the ledger is not durable, the chain is out of reach, we are shutting down. */
  readonly whyClosed: () => string | undefined
  /** Why nothing more is sold before the chain has caught up: too much was served for payments that are not final. */
  readonly whyExposed: () => Promise<string | undefined>
  readonly signReceipt: SignReceipt
  /** For the operator: the caller only hears that we do not know. */
  readonly onFault: (fault: Fault, requestId: string) => void
}

/** The way of a paid request, top to bottom. Every decision of it is an `if` in this function. */
export async function sell(deps: Paywall, product: Product, request: PaidRequest): Promise<Answer> {
  // Whatever can be refused for free is refused before a payment is asked for, or looked at.
  const wallet = readWallet(request, deps.terms)
  if (isRefusal(wallet)) return refusalAnswer(wallet)
  const ordered = await request.readParameters()
  if (isAnswer(ordered)) return ordered
  const idempotencyKey = readIdempotencyKey(request)
  if (isRefusal(idempotencyKey)) return refusalAnswer(idempotencyKey)
  const closed = deps.whyClosed() ?? ordered.whyUnavailable()
  if (closed !== undefined) return refusalAnswer(refuse('ENDPOINT_UNAVAILABLE', closed, closedRetrySeconds))
  const missing = ordered.whyNoData()
  if (missing !== undefined) return refusalAnswer(refuse('NO_DATA', missing))

  const rail = deps.rails.find(({ header }) => request.header(header) !== undefined)
  const presented = rail === undefined ? undefined : request.header(rail.header)

  try {
    // No proof: an offer.
    if (rail === undefined || presented === undefined) {
      const price = deps.currentPrice(product.path)
      if (price === undefined) return refusalAnswer(refuse('ENDPOINT_UNAVAILABLE', unpriced, closedRetrySeconds))
      const exposed = await deps.whyExposed()
      if (exposed !== undefined) return refusalAnswer(refuse('ENDPOINT_UNAVAILABLE', exposed, closedRetrySeconds))
      return await issueQuote(deps, wallet, price)
    }

    // A proof: what is it, what does the book know of it, and does the chain agree?
    const order: Order = { wallet, endpoint: product.path, digest: orderDigest(product, ordered.parameters) }
    const proof = rail.readProof(presented)
    if (isRefusal(proof)) return refusalAnswer(proof)
    const known = await deps.ledger.lookUp({ signature: proof.signature, wallet, idempotencyKey })
    const replay = findReplay(known, proof, order)
    if (isRefusal(replay)) return refusalAnswer(replay)
    if (replay !== undefined) return await sendReceipt(deps.signReceipt, replay)
    const unusable = mayUse(known.payment, order, deps.clock.nowMs())
    if (unusable !== undefined) return refusalAnswer(unusable)
    const exposed = isFinal(known.payment) ? undefined : await deps.whyExposed()
    if (exposed !== undefined) return refusalAnswer(refuse('ENDPOINT_UNAVAILABLE', exposed, closedRetrySeconds))
    const settlement =
      settlementInBook(known.payment, proof) ?? (await rail.settle({ proof, order, payment: known.payment }))
    if (isRefusal(settlement)) return refusalAnswer(settlement)

    // The claim is committed before the handler runs; from here on the caller gets an answer or keeps the proof.
    const claim = await claimPayment(deps, { order, settlement, known, idempotencyKey })
    if (isRefusal(claim)) return refusalAnswer(claim)
    const outcome = await runHandler(deps, ordered, request.requestId)
    if (outcome.kind !== 'delivered') {
      await release(deps, claim, outcome.kind === 'failed' ? failureReason(outcome.code) : 'internal_error')
      if (outcome.kind === 'broken') throw outcome.error
      return refusalAnswer(refuse(outcome.code, outcome.message))
    }

    // The delivery is committed before it is sent: a 2xx and a RequestFulfilled are one to one.
    const fulfilled = await fulfil(deps, claim, outcome)
    if (fulfilled === undefined) return refusalAnswer(refuseOvertaken())
    const { answerJson, leaf, recordedAtMs } = fulfilled
    const fulfilment = { settlement, endpoint: product.path, recordedAtMs, ...leaf }
    return await sendReceipt(deps.signReceipt, { answerJson, fulfilment, replayed: false })
  } catch (error) {
    // We do not know. A 402 would make the caller pay again, so it is never a 402 (I8); the same proof stays good.
    if (!(error instanceof Fault && error.retryable)) throw error
    deps.onFault(error, request.requestId)
    const code = presented === undefined ? 'ENDPOINT_UNAVAILABLE' : 'PAYMENT_PENDING'
    return refusalAnswer(refuse(code, unknownOutcome, 2))
  }
}

const unknownOutcome =
  'the outcome is not known at the moment; repeat the same request, with the same proof if you sent one'
const unpriced = 'the token has no current price; checks.price of /api/health says why'
const closedRetrySeconds = 5
