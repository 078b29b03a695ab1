import { canonicalJson } from '@tollbook/core/canonicalJson'
import type { Clock } from '@tollbook/core/clock'
import { sha256Hex } from '@tollbook/core/digest'
import { isRefusal, type Refusal, refuse } from '@tollbook/core/refusal'
import type { Order, PaymentState } from '../payment/payment.ts'
import type { KnownPayment, PaymentLedger, SponsoredPurchase } from '../payment/paymentLedger.ts'
import type { Settlement } from '../payment/settlement.ts'
import { judgeEarlierUse } from '../payment/paymentUse.ts'
import type { CheckedOrder, Product } from '../product/product.ts'
import { isPermanent } from '../payment/newPayment.ts'
import type { PaidRequest } from './paidRequest.ts'
import type { PaymentRail, Presented, Proof } from './rail.ts'
import type { Serving } from './serving.ts'

export interface LookUpDeps {
  readonly clock: Clock
  readonly ledger: PaymentLedger
  readonly serving: Serving
}

export interface LookUpQuestion {
  readonly rail: PaymentRail
  readonly presented: Presented
  readonly ordered: CheckedOrder
  readonly product: Product
  readonly idempotencyKey: string | undefined
  readonly request: Pick<PaidRequest, 'limitLookups'>
}

export interface FoundPayment {
  readonly known: KnownPayment
  readonly proof: Proof
  readonly order: Order
  /** Present if an earlier payment for this order was verified during the lookup. */
  readonly settlement?: Settlement
}

// 27 tries at 500 ms take 13.5 s. This is longer than `sentForMs` (paymentUse.ts), after which a submitted payment is
// resumed.
const triesMax = 27
const everyMs = 500

/**
 * Some clients bring a new payment instead of repeating a request. If the rail can resume payments, an earlier payment
 * for the same order is therefore served first, unless its answer was received.
 */
export async function lookUpPayment(deps: LookUpDeps, question: LookUpQuestion): Promise<FoundPayment | Refusal> {
  const { presented, rail } = question
  const found = await lookUp(deps, question, presented.proof)
  if (found.known.reference !== undefined || rail.resume === undefined) return found
  for (let tries = 1; tries <= triesMax; tries++) {
    const earlier = await findUnreceived(deps, question, found)
    if (earlier !== 'in_progress') return earlier ?? found
    await deps.clock.sleep(everyMs)
  }
  return refuse('PAYMENT_IN_PROGRESS', inProgress, 5)
}

const inProgress =
  'another request of this wallet for the same order is being served; nothing was signed for this one; repeat it'

/** `in_progress`: another process may be serving the payment. */
async function findUnreceived(
  deps: LookUpDeps,
  question: LookUpQuestion,
  presented: FoundPayment,
): Promise<FoundPayment | Refusal | 'in_progress' | undefined> {
  const wallet = question.presented.payer
  const purchases = await deps.ledger.listUnreceived({
    wallet,
    orderDigest: orderDigest(question.product, question.ordered),
  })
  const others = purchases.filter(({ message }) => !deps.serving.has(message))
  let isInProgress = false
  for (const purchase of others) {
    const earlier = await resume(deps, question, { presented, purchase })
    if (earlier === 'in_progress') isInProgress = true
    else if (earlier !== undefined) return earlier
  }
  return isInProgress ? 'in_progress' : undefined
}

async function resume(
  deps: LookUpDeps,
  question: LookUpQuestion,
  { presented, purchase }: { readonly presented: FoundPayment; readonly purchase: SponsoredPurchase },
): Promise<FoundPayment | Refusal | 'in_progress' | undefined> {
  const { rail } = question
  const proof = await rail.resume?.(presented, purchase.message)
  if (proof === undefined) return undefined
  const found = await lookUp(deps, question, proof)
  const { order } = found
  const verdict = judgeEarlierUse(found.known, purchase, deps.clock.nowMs())
  if (verdict !== 'resumed') return verdict === 'in_progress' ? 'in_progress' : undefined
  const { payment } = found.known
  if (payment.phase !== 'submitted') return found
  const limited = question.request.limitLookups()
  if (limited !== undefined) return limited
  const { verdict: settlement } = await rail.settle({ proof, order, payment })
  if (!isRefusal(settlement)) return { ...found, settlement }
  // The earlier payment can never buy this answer, so the wallet may pay again.
  return isPermanent(settlement) ? undefined : settlement
}

async function lookUp(deps: LookUpDeps, question: LookUpQuestion, proof: Proof): Promise<FoundPayment> {
  const { presented, ordered, idempotencyKey } = question
  const { payer: wallet } = presented
  const digest = orderDigest(question.product, question.ordered)
  const known = await deps.ledger.lookUp({ reference: proof.reference, wallet, orderDigest: digest, idempotencyKey })
  const endpoint = endpointFor(ordered, known.payment)
  const { inputUnits } = ordered
  return { known, proof, order: { wallet, endpoint, digest, ...(inputUnits === undefined ? {} : { inputUnits }) } }
}

/** Returns the digest that binds a claim and a stored answer to one order (I6). */
export function orderDigest(
  { method, path }: Product,
  { parameters, body, headers }: Pick<CheckedOrder, 'parameters' | 'body' | 'headers'>,
): string {
  const sent = { ...(body === undefined ? {} : { body: { ...body } }), ...(headers === undefined ? {} : { headers }) }
  return sha256Hex(canonicalJson({ method, path, parameters, ...sent }))
}

/** A payment for a variant that no longer has a separate price still counts for the order. */
function endpointFor({ endpoint, formerEndpoint }: CheckedOrder, payment: PaymentState): string {
  const paid = 'endpoint' in payment ? payment.endpoint : undefined
  return paid !== undefined && paid === formerEndpoint ? paid : endpoint
}
