import { encodeBase64 } from '@tollbook/core/base64'
import type { Reservation, Spending } from './budget.ts'
import type { SignedPayment } from './buildPayment.ts'
import { PayerFault } from './errorCode.ts'
import type { PayableRequest } from './payableRequest.ts'
import type { Payer } from './payer.ts'
import { PaymentNotSent } from './paymentError.ts'
import type { PendingPayment } from './pendingPayment.ts'
import { type Cost, SpendingLimitExceeded } from './spendingLimit.ts'
import { withinTime } from './timeLimit.ts'

export interface PresentablePayment
  extends SignedPayment, Pick<PendingPayment, 'form' | 'proof' | 'protocol' | 'inMeta'> {}

export interface PaymentToSign {
  readonly cost: Cost
  readonly mint: string
  readonly sign: () => Promise<PresentablePayment>
  readonly request: PayableRequest
  readonly idempotencyKey: string
  /** Time by which the payment must be signed, on the monotonic clock. */
  readonly signByMs: number
}

/**
 * Signs a transaction within the spending limits. The amount is reserved first, and released if signing or storing
 * fails. A signature that arrives after the offer has expired is discarded.
 */
export async function signPayment(payer: Payer, purchase: PaymentToSign): Promise<PendingPayment> {
  const { cost, request } = purchase
  const { host } = new URL(request.content.url)
  const spending = { ...cost, host, atMs: payer.clock.nowMs(), isDeposit: payer.paysDeposit }
  const reservation = await reserve(payer, spending)
  try {
    const payment = await sign(payer, purchase, spending)
    await record(payer, payment, spending)
    payer.refused.hold(payment.signature, reservation)
    return payment
  } catch (cause) {
    reservation.release()
    if (cause instanceof SpendingLimitExceeded) throw cause
    throw new PaymentNotSent(
      `it could not be signed and stored: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    )
  }
}

/**
 * Reserves the amount within the limits. If a limit refuses it, releases the amounts of refused payments that can no
 * longer land. If any amount was released, checks the limits again.
 */
async function reserve(payer: Payer, spending: Spending): Promise<Reservation> {
  const attempt = async () => payer.budget.reserve(spending, await payer.stored.byOthers())
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof SpendingLimitExceeded) || !(await payer.refused.giveBack())) throw error
    return attempt()
  }
}

async function sign(payer: Payer, purchase: PaymentToSign, { atMs }: Spending): Promise<PendingPayment> {
  const { request, signByMs } = purchase
  const leftMs = signByMs - payer.clock.monotonicMs()
  if (leftMs <= 0) throw new PayerFault('SERVICE_UNAVAILABLE', 'the offer has expired', { retryable: true })
  const limit = { clock: payer.clock, timeoutMs: Math.min(leftMs, signTimeMostMs), signal: request.signal }
  const signed = await withinTime(limit, () => purchase.sign())
  // Store the time that the budget used, so that all payers of the store count the payment on the same day.
  return { ...pendingOf(payer, purchase, signed), signedAtMs: atMs }
}

/** Stores the payment before it is sent, so that a crash cannot lose it. */
async function record(payer: Payer, payment: PendingPayment, spending: Spending): Promise<void> {
  payer.stored.markOwn(payment.signature)
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
 * Throws if the limits do not permit this payment after the payments stored before it. Other payers of this store may
 * have signed in the meantime. All payers read the same order, so the first payments are sent and the later ones
 * withdrawn.
 */
async function requireStillAllowed(payer: Payer, { signature }: PendingPayment, spending: Spending): Promise<void> {
  const excess = payer.budget.findExcess(spending, await payer.stored.before(signature))
  if (excess === undefined) return
  const outcome = 'other payments of its store were signed first, and the signed payment was not sent'
  throw new SpendingLimitExceeded(excess, outcome)
}

// Maximum wait for a signature. It applies even if the quote is valid for longer.
const signTimeMostMs = 60 * 60 * 1000

function pendingOf(payer: Payer, purchase: PaymentToSign, signed: PresentablePayment): PendingPayment {
  const { cost, mint, request, idempotencyKey } = purchase
  const { transaction, ...presented } = signed
  return {
    format: 'tollbook-payment-1',
    request: request.content,
    wallet: payer.wallet.address,
    ...presented,
    ...(payer.paysDeposit ? { isDeposit: true as const } : {}),
    idempotencyKey,
    transaction: encodeBase64(transaction),
    mint,
    costBaseUnits: cost.baseUnits.toString(),
    costAttoUsd: cost.attoUsd.toString(),
  }
}
