import { randomToken } from '@tollbook/core/id'
import { InvalidOption } from './errorCode.ts'
import { buildPayment } from './buildPayment.ts'
import { checkQuote, type PayableQuote } from './checkQuote.ts'
import { deliverPayment } from './deliverPayment.ts'
import { encodeProof } from './encodeProof.ts'
import { type PayableRequest, quoteRequestInit, readRequest } from './payableRequest.ts'
import { createPayer, type Payer, type PayingFetchOptions } from './payer.ts'
import { PaymentRefused } from './paymentError.ts'
import type { PendingPayment } from './pendingPayment.ts'
import { type PaymentPlan, planPayment } from './planPayment.ts'
import { type QuoteProblem, quoteProblem, QuoteRefused } from './quoteProblem.ts'
import { type Offer, readOffer } from './readOffer.ts'
import { requireFunds, requireTokens } from './requireFunds.ts'
import { requireSecureUrl } from './secureUrl.ts'
import { type PresentablePayment, signPayment } from './signPayment.ts'
import { planSponsored, signSponsored } from './sponsored/planSponsored.ts'
import type { SponsoredOffer } from './sponsored/sponsoredOffer.ts'
import { createPayingTabs, type PayingTabs } from './tab/manageTab.ts'
import { payAtKnownPrice, payOnTab, type TabOrder } from './tab/payOnTab.ts'
import { withinTime } from './timeLimit.ts'
import { payToolCall } from './tool/toolCall.ts'

export interface PayingFetch {
  /** Like `fetch`. If the service asks for payment, pays within the limits and repeats the request. */
  (input: string | URL, init?: RequestInit): Promise<Response>
  /** Presents an earlier payment again. Signs no other payment. */
  resume(payment: PendingPayment, options?: ResumeOptions): Promise<Response>
  readonly tabs: PayingTabs
}

export interface ResumeOptions {
  readonly signal?: AbortSignal
  /** Another request of the same endpoint, for an unspent payment. Default: the same request. */
  readonly instead?: { readonly input: string | URL; readonly init?: RequestInit }
}

/**
 * Creates a `fetch` that pays within the spending limit. With the option `tab`, a call may also buy a deposit.
 *
 * @example
 *   import { createPayingFetch } from '@tollbook/client'
 *   import { openPaymentFolder, readKeypairFile } from '@tollbook/client/node'
 *
 *   const payingFetch = createPayingFetch({
 *     wallet: await readKeypairFile('payer.json'),
 *     rpcUrl: 'https://api.mainnet-beta.solana.com',
 *     expectedMint: 'the mint that you pay in',
 *     spendingLimit: { perRequest: { usd: '0.05' }, perDay: { usd: '1' } },
 *     store: openPaymentFolder('payments'),
 *   })
 *   const response = await payingFetch('https://service.example/api/data/crypto?symbol=BTC')
 *   console.log(await response.json())
 */
export function createPayingFetch(options: PayingFetchOptions): PayingFetch {
  const payer = createPayer(options)
  const pay = async (input: string | URL, init?: RequestInit) =>
    payToolCall(await readRequest(input, init), (request) => fetchAndPay(payer, request))
  const resume = (payment: PendingPayment, options: ResumeOptions = {}) => resumePayment(payer, payment, options)
  return Object.assign(pay, { resume, tabs: createPayingTabs(payer, fetchAndPay) })
}

async function fetchAndPay(payer: Payer, request: PayableRequest): Promise<Response> {
  const entry = await payer.open.enter(request, payer.wallet.address)
  try {
    const { earlier } = entry
    if (earlier !== undefined) return await resumeEarlier(payer, earlier, request)
    return await buy(payer, request)
  } finally {
    await entry.leave()
  }
}

/**
 * Resumes an earlier payment. A debit that expired or ran out of attempts charged nothing, so its request is bought
 * again.
 */
async function resumeEarlier(payer: Payer, earlier: PendingPayment, request: PayableRequest): Promise<Response> {
  try {
    // Send the new request: it equals the earlier one, except for the MCP session, which may have ended since.
    return await resumePayment(payer, { ...earlier, request: request.content }, { signal: request.signal })
  } catch (error) {
    const reason = error instanceof PaymentRefused && earlier.debit !== undefined ? error.reason : ''
    if (reason !== 'tab_debit_expired' && reason !== 'tab_number_exhausted') throw error
    return buy(payer, request)
  }
}

async function buy(payer: Payer, request: PayableRequest): Promise<Response> {
  const idempotencyKey = request.idempotencyKey ?? randomToken()
  const atOnce = await payAtKnownPrice(payer, { request, idempotencyKey }, fetchAndPay)
  if (atOnce !== undefined) return atOnce
  const offer = await askWithoutProof(payer, request, idempotencyKey)
  if (offer instanceof Response) return offer

  const { sponsored } = offer
  const order = { request, idempotencyKey, offer, offeredAtMs: payer.clock.monotonicMs() }
  const onTab = await payOnTab(payer, order, fetchAndPay)
  if (onTab !== undefined) return onTab
  return sponsored === undefined ? payQuote(payer, order) : paySponsored(payer, { ...order, sponsored })
}

interface Order extends TabOrder {
  readonly offer: Offer
  /** Arrival of the offer, on the monotonic clock. */
  readonly offeredAtMs: number
}

async function payQuote(payer: Payer, { request, idempotencyKey, offer, offeredAtMs }: Order): Promise<Response> {
  if (payer.pins.expectedMint === undefined)
    throw new QuoteRefused(quoteProblem('other_mint', 'it is in none of dollarMints'), offer.body)
  const { pins, paysDeposit: isDeposit } = payer
  const quote = checkQuote({ offer, request, pins, isDeposit })
  if ('problem' in quote) throw new QuoteRefused(quote, offer.body)
  const plan = await planFor(payer, quote)
  if ('problem' in plan) throw new QuoteRefused(plan, offer.body)
  await payer.onEvent({ kind: 'quoted', plan, isDeposit })
  await requireFunds(payer, plan)

  const { cost } = plan
  const sign = () => signQuote(payer, plan)
  const signByMs = offeredAtMs + quote.lifetimeMs
  const payment = await signPayment(payer, { cost, mint: quote.mint, sign, request, idempotencyKey, signByMs })
  try {
    return await deliverPayment(payer, { payment, sentBefore: false, signal: request.signal })
  } finally {
    payer.rent.ended(plan, payment)
  }
}

async function signQuote(payer: Payer, plan: PaymentPlan): Promise<PresentablePayment> {
  const { form } = payer
  const signed = await buildPayment(payer, plan, form)
  return { ...signed, form, proof: encodeProof(form, { ...signed, secret: plan.quote.secret }) }
}

async function paySponsored(payer: Payer, order: Order & { readonly sponsored: SponsoredOffer }): Promise<Response> {
  const { request, idempotencyKey, sponsored, offeredAtMs } = order
  const plan = await planSponsored(payer, sponsored)
  if ('problem' in plan) throw new QuoteRefused(plan, order.offer.body)
  await payer.onEvent({ kind: 'offered', plan, isDeposit: payer.paysDeposit })
  await requireTokens(payer, plan)
  const { mint, protocol, lifetimeMs, inMeta } = sponsored
  const { cost } = plan
  const way = { form: 'transaction', protocol, ...(inMeta === undefined ? {} : { inMeta }) } as const
  const sign = async (): Promise<PresentablePayment> => {
    const signed = await signSponsored(payer, plan)
    return { ...signed, ...way, proof: sponsored.encode(signed.transaction) }
  }
  const signByMs = offeredAtMs + lifetimeMs
  const payment = await signPayment(payer, { cost, mint, sign, request, idempotencyKey, signByMs })
  return deliverPayment(payer, { payment, sentBefore: false, signal: request.signal })
}

function askWithoutProof(payer: Payer, request: PayableRequest, idempotencyKey: string): Promise<Offer | Response> {
  const { content, signal } = request
  const init = quoteRequestInit(content, payer.wallet.address, idempotencyKey)
  const limit = { clock: payer.clock, timeoutMs: payer.retry.attemptTimeoutMs, signal }
  return withinTime(limit, async (signal) =>
    readOffer(await payer.fetch(content.url, { ...init, signal }), {
      clock: payer.clock,
      isTool: request.tool !== undefined,
      protocols: payer.protocols,
      mint: payer.pins.expectedMint,
      dollarMints: payer.dollarMints,
    }),
  )
}

async function planFor(payer: Payer, quote: PayableQuote): Promise<PaymentPlan | QuoteProblem> {
  const plan = planPayment(quote, await payer.chain.readToken(quote))
  if ('problem' in plan) return plan
  return (await payer.rent.admit(plan)) ?? { ...plan, cost: payer.worth(plan.cost, quote.decimals) }
}

async function resumePayment(payer: Payer, payment: PendingPayment, options: ResumeOptions): Promise<Response> {
  const { instead, signal = new AbortController().signal } = options
  const resumed = instead === undefined ? payment : await moveTo(payment, instead)
  try {
    requireSecureUrl(resumed.request.url)
    await payer.onEvent({ kind: 'resumed', payment: resumed })
  } catch (error) {
    // Release the payment, which was not presented, so that a later call can take it.
    await payer.open.leave(payment)
    throw error
  }
  return deliverPayment(payer, { payment: resumed, sentBefore: true, signal })
}

async function moveTo(payment: PendingPayment, { input, init }: NonNullable<ResumeOptions['instead']>) {
  if (payment.debit !== undefined) throw new InvalidOption('a debit of a tab pays its own request only')
  const { content } = await readRequest(input, init)
  const [from, to] = [new URL(payment.request.url).origin, new URL(content.url).origin]
  // Send a proof only to the service that it pays.
  if (to !== from) throw new InvalidOption(`the payment is for ${from}, so it cannot be presented at ${to}`)
  // Use a new key: the service refuses a different request under the same key.
  return { ...payment, request: content, idempotencyKey: randomToken() }
}
