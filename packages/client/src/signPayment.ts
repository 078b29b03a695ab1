import { encodeBase64 } from '@tollbook/core/base64'
import type { Reservation, Spending } from './budget.ts'
import type { SignedPayment } from './buildPayment.ts'
import type { PayableRequest } from './payableRequest.ts'
import type { Payer } from './payer.ts'
import { PaymentNotSent } from './paymentError.ts'
import type { PendingPayment } from './pendingPayment.ts'
import { type Cost, SpendingLimitExceeded } from './spendingLimit.ts'
import { withinTime } from './timeLimit.ts'

/** A payment as it is presented. */
export interface PresentablePayment extends SignedPayment, Pick<PendingPayment, 'form' | 'proof' | 'protocol'> {}

/** A checked quote, about to be reserved in the budget and signed. */
export interface Purchase {
  readonly cost: Cost
  readonly mint: string
  /** Builds and signs; sends nothing. */
  readonly sign: () => Promise<PresentablePayment>
  readonly request: PayableRequest
  readonly idempotencyKey: string
  /** On the clock that never goes back. */
  readonly signByMs: number
}

/**
 * The one place where a payment is signed. The budget is charged first, and gets it back when nothing has left. A person
 * may be asked to sign; a signature that comes after the offer has ended is thrown away.
 */
export async function signPayment(payer: Payer, purchase: Purchase): Promise<PendingPayment> {
  const { cost, request } = purchase
  const { host } = new URL(request.content.url)
  const spending = { ...cost, host, atMs: payer.clock.nowMs() }
  const reservation = await reserve(payer, spending)
  try {
    const payment = await sign(payer, purchase)
    await record(payer, payment, spending)
    payer.refused.hold(payment.signature, reservation)
    return payment
  } catch (cause) {
    reservation.release()
    if (cause instanceof SpendingLimitExceeded) throw cause
    throw new PaymentNotSent(`it could not be signed: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  }
}

/** Before a limit refuses, refused payments that can no longer land give their amounts back. */
async function reserve(payer: Payer, spending: Spending): Promise<Reservation> {
  const attempt = async () => payer.budget.reserve(spending, await payer.stored.byOthers())
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof SpendingLimitExceeded) || !(await payer.refused.giveBack())) throw error
    return attempt()
  }
}

async function sign(payer: Payer, purchase: Purchase): Promise<PendingPayment> {
  const { request, signByMs } = purchase
  const timeoutMs = Math.min(Math.max(1, signByMs - payer.clock.monotonicMs()), signTimeMostMs)
  const limit = { clock: payer.clock, timeoutMs, signal: request.signal }
  return pendingOf(payer, purchase, await withinTime(limit, () => purchase.sign()))
}

/** The payment is on disk before it leaves, so that a crash loses nothing. */
async function record(payer: Payer, payment: PendingPayment, spending: Spending): Promise<void> {
  payer.stored.claim(payment.signature)
  await payer.open.keep(payment)
  try {
    await requireStillAllowed(payer, payment, spending)
    await payer.onEvent({ kind: 'signed', payment })
  } catch (cause) {
    await payer.open.close(payment, 'not_sent')
    throw cause
  }
}

/**
 * Other payers with this store may have signed since the budget was charged. The store is in one order for all of them, so those
 * whose payments are first pay, and the others withdraw.
 */
async function requireStillAllowed(payer: Payer, { signature }: PendingPayment, spending: Spending): Promise<void> {
  const excess = payer.budget.findExcess(spending, await payer.stored.before(signature))
  if (excess === undefined) return
  const outcome = 'other payments of its store were signed first, and the signed payment was not sent'
  throw new SpendingLimitExceeded(excess, outcome)
}

// Longer than any quote is meant to live.
const signTimeMostMs = 60 * 60 * 1000

function pendingOf(payer: Payer, purchase: Purchase, signed: PresentablePayment): PendingPayment {
  const { cost, mint, request, idempotencyKey } = purchase
  const { signature, transaction, lastValidBlockHeight, form, proof, protocol } = signed
  return {
    format: 'tollbook-payment-1',
    request: request.content,
    wallet: payer.wallet.address,
    form,
    signature,
    proof,
    ...(protocol === undefined ? {} : { protocol }),
    idempotencyKey,
    transaction: encodeBase64(transaction),
    lastValidBlockHeight,
    mint,
    costBaseUnits: cost.baseUnits.toString(),
    costAttoUsd: cost.attoUsd.toString(),
    signedAtMs: payer.clock.nowMs(),
  }
}
