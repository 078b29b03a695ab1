import { checkQuote, type PayableQuote } from '../checkQuote.ts'
import { deliverPayment } from '../deliverPayment.ts'
import { pathOf } from '@tollbook/core/endpointName'
import { mayHeal } from '../judgeAnswer.ts'
import type { PayableRequest } from '../payableRequest.ts'
import type { Payer } from '../payer.ts'
import { PaymentError, PaymentRefused } from '../paymentError.ts'
import type { Offer } from '../readOffer.ts'
import { SpendingLimitExceeded } from '../spendingLimit.ts'
import { findTab, type Pay, topUpTab } from './openTab.ts'
import { signDebit, type SignedRequest, signedRequestOf } from './tabDebit.ts'
import type { OpenedRecord } from './tabRecords.ts'

export interface TabOrder {
  readonly request: PayableRequest
  readonly idempotencyKey: string
}

/** Pays by a debit of the tab at the service. Undefined if the offer has to be paid by itself. */
export async function payOnTab(payer: Payer, order: TabOrder & { readonly offer: Offer }, pay: Pay) {
  const { request, offer } = order
  if (payer.tab === undefined || offer.sponsored !== undefined) return undefined
  const url = new URL(request.content.url)
  const quote = checkQuote({ offer, request, pins: payer.pins })
  // The payment by itself reports the problem.
  if ('problem' in quote) return undefined
  const excess = findExcess(payer, url, quote)
  if (excess !== undefined) throw new SpendingLimitExceeded(excess)
  const answer = await debit(payer, { order, quote, pay })
  if (answer instanceof Error) throw answer
  const { prices } = payer.tabs
  if (prices.size >= pricesMax) prices.clear()
  if (answer !== undefined) prices.set(priceName(request), { quote, atMs: payer.clock.monotonicMs() })
  return answer
}

// A route of a file may have any number of paths.
const pricesMax = 1_000
// The token may rise, and the price in tokens fall with it. The debit then permits more dollars than were compared.
const knownMs = 10 * 60_000

/**
 * Pays at most the price of an earlier request, without asking for the price. Undefined if that is not possible:
 * nothing was charged, and the service has to be asked.
 */
export async function payAtKnownPrice(payer: Payer, order: TabOrder, pay: Pay): Promise<Response | undefined> {
  const name = priceName(order.request)
  const known = payer.tabs.prices.get(name)
  if (known === undefined) return undefined
  const { quote, atMs } = known
  const url = new URL(order.request.content.url)
  if (payer.clock.monotonicMs() < atMs + knownMs && findExcess(payer, url, quote) === undefined) {
    const answer = await debit(payer, { order, quote, pay })
    if (answer instanceof Response) return answer
    if (answer !== undefined) await payer.open.close(answer.payment, 'not_sent')
  }
  payer.tabs.prices.delete(name)
  return undefined
}

function priceName({ content: { method, url }, tool }: PayableRequest): string {
  const { origin, pathname } = new URL(url)
  return `${method} ${origin}${pathname} ${tool?.name ?? ''}`
}

/** The deposit is counted already, so only the price itself is compared with the limits. */
function findExcess(payer: Payer, { host }: URL, quote: PayableQuote) {
  return payer.budget.findExcess({ ...costOf(payer, quote), host, atMs: payer.clock.nowMs() }, [])
}

function costOf({ worth }: Payer, { priceAttoUsd: attoUsd, requiredBaseUnits: baseUnits, decimals }: PayableQuote) {
  return worth({ attoUsd, baseUnits }, decimals)
}

interface DebitQuestion {
  readonly order: TabOrder
  readonly quote: PayableQuote
  readonly pay: Pay
}

/** Undefined if the tab cannot pay. An error says that the service refuses the request itself, and charged nothing. */
async function debit(payer: Payer, { order, quote, pay }: DebitQuestion) {
  const { tab: option } = payer
  const { request } = order
  if (option === undefined) return undefined
  const { endpoint, mint } = quote
  await payer.onEvent({ kind: 'debiting', endpoint, mint, cost: costOf(payer, quote) })
  const service = serviceOf(request, quote)
  const signed = signedRequestOf(request, { service, quote })
  if (signed === undefined) return undefined
  const question = { service, option, signal: request.signal, pay }
  const record = await findTab(payer, question)
  if (record === undefined || record.opened.mint !== mint) return undefined

  const maxBaseUnits = quote.requiredBaseUnits
  const first = await presentDebit(payer, { record, order, maxBaseUnits, signed })
  if (typeof first !== 'string') return first
  if (first === 'INSUFFICIENT_BALANCE' && option.topUp === true) {
    if (!(await topUpTab(payer, question, { record, neededBaseUnits: maxBaseUnits }))) return undefined
    const again = await presentDebit(payer, { record, order, maxBaseUnits, signed })
    return typeof again === 'string' ? undefined : again
  }
  if (endedReasons.has(first)) await payer.tabs.write({ ...record, isClosed: true })
  return undefined
}

/** The base URL of the service, whose path may be that of a gateway. */
function serviceOf({ content, tool }: PayableRequest, { endpoint }: PayableQuote): string {
  const { origin, pathname } = new URL(content.url)
  const path = tool === undefined ? pathOf(endpoint) : mcpPath
  return pathname.endsWith(path) ? origin + pathname.slice(0, pathname.length - path.length) : origin
}

const mcpPath = '/mcp'

const endedReasons = new Set(['tab_closed', 'tab_key_replaced', 'tab_unknown', 'tab_signature_invalid'])

interface DebitOrder {
  readonly record: OpenedRecord
  readonly order: TabOrder
  readonly maxBaseUnits: bigint
  readonly signed: SignedRequest
}

/**
 * Returns the answer, the reason for which the tab was not debited, or the error about the request itself; the last two
 * charged nothing. A refusal after a lost answer is thrown: the lost request may still be on its way, and another
 * payment could pay the order twice.
 */
async function presentDebit(
  payer: Payer,
  { record, order, maxBaseUnits, signed }: DebitOrder,
): Promise<Response | string | PaymentError> {
  const { request, idempotencyKey } = order
  const payment = signDebit({ record, request, signed, idempotencyKey, maxBaseUnits, nowMs: payer.clock.nowMs() })
  await payer.open.keep(payment)
  let isLost = false
  const watching: Payer = {
    ...payer,
    async onEvent(event) {
      if (event.kind === 'waiting') isLost = true
      await payer.onEvent(event)
    },
  }
  try {
    await payer.onEvent({ kind: 'signed', payment })
  } catch (error) {
    await payer.open.close(payment, 'not_sent')
    throw error
  }
  try {
    return await deliverPayment(watching, { payment, sentBefore: false, signal: request.signal })
  } catch (error) {
    if (isLost || !(error instanceof PaymentError)) throw error
    if (error instanceof PaymentRefused) {
      if (!/^(tab_|INSUFFICIENT_BALANCE$)/.test(error.reason)) throw error
      return error.reason
    }
    if (!isAboutRequest(error)) throw error
    return error
  }
}

/** True if the service refused the request as it does without a payment, such as for a wrong parameter. */
function isAboutRequest({ lastAnswer }: PaymentError): boolean {
  return lastAnswer?.code !== undefined && lastAnswer.status <= 499 && !mayHeal(lastAnswer.status)
}
