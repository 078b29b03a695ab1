import { randomToken } from '@tollbook/core/id'
import { checkQuote, type PayableQuote } from './checkQuote.ts'
import { deliverPayment } from './deliverPayment.ts'
import { type PayableRequest, quoteRequestInit, readRequest } from './payableRequest.ts'
import { createPayer, type Payer, type PayingFetchOptions } from './payer.ts'
import type { PendingPayment } from './pendingPayment.ts'
import { type PaymentPlan, planPayment } from './planPayment.ts'
import { type QuoteProblem, QuoteRefused } from './quoteProblem.ts'
import { type Offer, readOffer } from './readOffer.ts'
import { requireSecureUrl } from './secureUrl.ts'
import { signPayment } from './signPayment.ts'
import { withinTime } from './timeLimit.ts'

export interface PayingFetch {
  /** Like `fetch`. A 402 offer within the limit is paid once, and the answer to the paid request is returned. */
  (input: string | URL, init?: RequestInit): Promise<Response>
  /** Presents an earlier payment again. Never signs, never pays. */
  resume(payment: PendingPayment, options?: ResumeOptions): Promise<Response>
}

export interface ResumeOptions {
  readonly signal?: AbortSignal
  /** Another request of the same endpoint, for a payment that is unspent. Without it: the same request again. */
  readonly instead?: { readonly input: string | URL; readonly init?: RequestInit }
}

/** A `fetch` that pays. It signs at most one payment a call, and only within the limit. */
export function createPayingFetch(options: PayingFetchOptions): PayingFetch {
  const payer = createPayer(options)
  const pay = async (input: string | URL, init?: RequestInit) => fetchAndPay(payer, await readRequest(input, init))
  const resume = (payment: PendingPayment, options: ResumeOptions = {}) => resumePayment(payer, payment, options)
  return Object.assign(pay, { resume })
}

/** Flow of a request that may cost something, top to bottom. */
async function fetchAndPay(payer: Payer, request: PayableRequest): Promise<Response> {
  const earlier = await payer.open.take(request, payer.wallet.address)
  if (earlier !== undefined) return resumePayment(payer, earlier, { signal: request.signal })

  const idempotencyKey = request.idempotencyKey ?? randomToken()
  const offer = await askWithoutProof(payer, request, idempotencyKey)
  if (offer instanceof Response) return offer

  // Everything that can be wrong with the offer is found before anything is signed for it.
  const offeredAtMs = payer.clock.monotonicMs()
  const quote = checkQuote({ offer, url: new URL(request.content.url), pins: payer.pins })
  if ('problem' in quote) throw new QuoteRefused(quote, offer.body)
  const plan = await makePlan(payer, quote)
  if ('problem' in plan) throw new QuoteRefused(plan, offer.body)
  await payer.onEvent({ kind: 'quoted', plan })

  const payment = await signPayment(payer, { plan, request, idempotencyKey, signByMs: offeredAtMs + quote.lifetimeMs })
  const answer = await deliverPayment(payer, { payment, sentBefore: false, signal: request.signal })
  payer.rent.delivered(plan)
  return answer
}

function askWithoutProof(payer: Payer, request: PayableRequest, idempotencyKey: string): Promise<Offer | Response> {
  const { content, signal } = request
  const init = quoteRequestInit(content, payer.wallet.address, idempotencyKey)
  const limit = { clock: payer.clock, timeoutMs: payer.retry.attemptTimeoutMs, signal }
  return withinTime(limit, async (signal) =>
    readOffer(await payer.fetch(content.url, { ...init, signal }), payer.clock),
  )
}

async function makePlan(payer: Payer, quote: PayableQuote): Promise<PaymentPlan | QuoteProblem> {
  const plan = planPayment(quote, await payer.chain.readToken(quote))
  return 'problem' in plan ? plan : (payer.rent.admit(plan) ?? plan)
}

async function resumePayment(payer: Payer, payment: PendingPayment, options: ResumeOptions): Promise<Response> {
  const { instead, signal = new AbortController().signal } = options
  const resumed = instead === undefined ? payment : await moveTo(payment, instead)
  requireSecureUrl(resumed.request.url)
  await payer.onEvent({ kind: 'resumed', payment: resumed })
  return deliverPayment(payer, { payment: resumed, sentBefore: true, signal })
}

async function moveTo(payment: PendingPayment, { input, init }: NonNullable<ResumeOptions['instead']>) {
  const { content } = await readRequest(input, init)
  const [from, to] = [new URL(payment.request.url).origin, new URL(content.url).origin]
  // A proof is sent only to the service that it is for.
  if (to !== from) throw new TypeError(`the payment is for ${from}, so it cannot be presented at ${to}`)
  // Another request under the same key would be refused as a mix-up.
  return { ...payment, request: content, idempotencyKey: randomToken() }
}
