import type { Clock } from '@tollbook/core/clock'
import { isRefusal, type Refusal, refuse } from '@tollbook/core/refusal'
import type { Order, PaymentState } from '../payment/payment.ts'
import type { KnownPayment, PaymentLedger, SponsoredPurchase } from '../payment/paymentLedger.ts'
import type { Settlement } from '../payment/settlement.ts'
import { judgePurchase } from '../payment/paymentUse.ts'
import type { CheckedOrder, Product } from '../product/product.ts'
import { isPermanent } from '../payment/newPayment.ts'
import { orderDigest } from './orderDigest.ts'
import type { PaymentRail, Presented, Proof } from './rail.ts'
import type { Serving } from './serving.ts'

export interface LookUpDeps {
  readonly clock: Clock
  readonly ledger: PaymentLedger
  readonly serving: Serving
}

/** A proof, and the order that it should buy. */
export interface LookUpQuestion {
  readonly rail: PaymentRail
  readonly presented: Presented
  readonly ordered: CheckedOrder
  readonly product: Product
  readonly idempotencyKey: string | undefined
}

/** The payment that answers a request, as the ledger knows it. */
export interface FoundPayment {
  readonly known: KnownPayment
  readonly proof: Proof
  readonly order: Order
  /** Present when the payment was verified to find out whether it is the one. */
  readonly settlement?: Settlement
}

// Longer than a request works on a payment that it has sent, so that each of them has ended or has the payment claimed.
const triesMax = 27
const everyMs = 500

/**
 * Asks the ledger for the payment, before any rule of the moment is asked. If the ledger does not have it and the
 * service would have to sign it first, an earlier payment of the wallet for the same order is served instead, unless
 * its own request is still at work.
 */
export async function lookUpPayment(deps: LookUpDeps, question: LookUpQuestion): Promise<FoundPayment | Refusal> {
  const { presented, rail } = question
  const found = await lookUp(deps, question, presented.proof)
  if (found.known.reference !== undefined || rail.resume === undefined) return found
  for (let tries = 1; tries <= triesMax; tries++) {
    const earlier = await findUnreceived(deps, question, found)
    if (earlier !== 'served') return earlier ?? found
    await deps.clock.sleep(everyMs)
  }
  return refuse('PAYMENT_IN_PROGRESS', inProgress, 5)
}

const inProgress =
  'another request of this wallet for the same order is being served; nothing was signed for this one; repeat it'

/** `served`: another process may be at work on a payment for the order. */
async function findUnreceived(
  deps: LookUpDeps,
  question: LookUpQuestion,
  presented: FoundPayment,
): Promise<FoundPayment | Refusal | 'served' | undefined> {
  const wallet = question.presented.payer
  const purchases = await deps.ledger.listUnreceived({ wallet, orderDigest: digestOf(question) })
  const others = purchases.filter(({ message }) => !deps.serving.has(message))
  let isServed = false
  for (const purchase of others) {
    const earlier = await resume(deps, question, { presented, purchase })
    if (earlier === 'served') isServed = true
    else if (earlier !== undefined) return earlier
  }
  return isServed ? 'served' : undefined
}

async function resume(
  deps: LookUpDeps,
  question: LookUpQuestion,
  { presented, purchase }: { readonly presented: FoundPayment; readonly purchase: SponsoredPurchase },
): Promise<FoundPayment | Refusal | 'served' | undefined> {
  const { rail } = question
  const proof = await rail.resume?.(presented, purchase.message)
  if (proof === undefined) return undefined
  const found = await lookUp(deps, question, proof)
  const { order } = found
  const verdict = judgePurchase(found.known, purchase, deps.clock.nowMs())
  if (verdict !== 'resumed') return verdict === 'served' ? 'served' : undefined
  const { payment } = found.known
  if (payment.phase !== 'submitted') return found
  const settlement = await rail.settle({ proof, order, payment, onRecorded: () => undefined })
  if (!isRefusal(settlement)) return { ...found, settlement }
  // It moved nothing, so the wallet may pay again.
  return isPermanent(settlement) ? undefined : settlement
}

async function lookUp(deps: LookUpDeps, question: LookUpQuestion, proof: Proof): Promise<FoundPayment> {
  const { presented, ordered, idempotencyKey } = question
  const { payer: wallet } = presented
  const digest = digestOf(question)
  const known = await deps.ledger.lookUp({ reference: proof.reference, wallet, orderDigest: digest, idempotencyKey })
  return { known, proof, order: { wallet, endpoint: endpointFor(ordered, known.payment), digest } }
}

function digestOf({ product, ordered }: LookUpQuestion): string {
  return orderDigest(product, ordered.parameters)
}

/**
 * A payment on record is served at the price that it was paid, also when the order's variant has no price of its own
 * any more.
 */
function endpointFor({ endpoint, formerEndpoint }: CheckedOrder, payment: PaymentState): string {
  const paid = 'endpoint' in payment ? payment.endpoint : undefined
  return paid !== undefined && paid === formerEndpoint ? paid : endpoint
}
