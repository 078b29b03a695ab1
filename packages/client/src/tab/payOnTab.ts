import { checkQuote, type PayableQuote, type QuotePins } from '../checkQuote.ts'
import { deliverPayment } from '../deliverPayment.ts'
import { pathOf } from '@tollbook/core/endpointName'
import { basePathOf } from '@tollbook/core/pathTemplate'
import { mayHeal } from '../judgeAnswer.ts'
import type { PayableRequest } from '../payableRequest.ts'
import type { Payer } from '../payer.ts'
import { PaymentError, PaymentRefused } from '../paymentError.ts'
import type { Offer } from '../readOffer.ts'
import { SpendingLimitExceeded } from '../spendingLimit.ts'
import type { Pay } from './buyDeposit.ts'
import { findTab, markClosed, topUpTab } from './openTab.ts'
import { type DebitTerms, termsIn } from './debitTerms.ts'
import { signDebit, type SignedRequest, signedRequestOf } from './tabDebit.ts'
import type { OpenedRecord } from './tabRecords.ts'

export interface TabOrder {
  readonly request: PayableRequest
  readonly idempotencyKey: string
}

/** Pays a request from a tab. Undefined: the request must be paid separately. */
export async function payOnTab(payer: Payer, order: TabOrder & { readonly offer: Offer }, pay: Pay) {
  const { request, offer } = order
  if (payer.tab === undefined) return undefined
  const quote = checkQuote({ offer, request, pins: pinsOf(payer) })
  // Ignore the problem here, because paying the request separately reports it.
  if ('problem' in quote) return undefined
  const terms = await expectedTerms(payer, request, quote)
  if (terms === undefined) return undefined
  const excess = findExcess(payer, request, terms)
  if (excess !== undefined) throw new SpendingLimitExceeded(excess)
  const answer = await debit(payer, { order, quote, terms, pay })
  if (answer instanceof Error) throw answer
  const { prices } = payer.tabs
  if (prices.size >= pricesMax) prices.clear()
  if (answer !== undefined) prices.set(priceName(request), { quote, atMs: payer.clock.monotonicMs() })
  return answer
}

/**
 * Drops the expected mint and network if other protocols are allowed. The tab may then hold dollars, so the mint and
 * network of the quote do not matter. The offer of the deposit is checked instead.
 */
function pinsOf({ pins, protocols }: Payer): QuotePins {
  const { expectedMint: _mint, expectedNetwork: _network, ...others } = pins
  return protocols.length === 0 ? pins : others
}

// Maximum of known prices, because a route that serves files may have any number of paths.
const pricesMax = 1_000
// Time for which a known price is used. It is bounded, because the debit permits more dollars if the token rises
// meanwhile.
const knownMs = 10 * 60_000

/** Pays without a request for a quote. Undefined: nothing was charged, and the caller must request a quote. */
export async function payAtKnownPrice(payer: Payer, order: TabOrder, pay: Pay): Promise<Response | undefined> {
  const name = priceName(order.request)
  const known = payer.tabs.prices.get(name)
  if (known === undefined) return undefined
  const { quote, atMs } = known
  const terms = await expectedTerms(payer, order.request, quote)
  const isKnown = payer.clock.monotonicMs() < atMs + knownMs && terms !== undefined
  if (isKnown && findExcess(payer, order.request, terms) === undefined) {
    const answer = await debit(payer, { order, quote, terms, pay })
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

/** Compares only the price with the limits, because the deposit was already counted. */
function findExcess(payer: Payer, { content: { url } }: PayableRequest, { cost }: DebitTerms) {
  return payer.budget.findExcess({ ...cost, host: new URL(url).host, atMs: payer.clock.nowMs() }, [])
}

interface DebitQuestion {
  readonly order: TabOrder
  readonly quote: PayableQuote
  readonly terms: DebitTerms
  readonly pay: Pay
}

/**
 * Pays the request from a tab, if possible. Undefined if the tab cannot pay. Returns an error if the service refused
 * the request and charged nothing.
 */
async function debit(payer: Payer, { order, quote, terms, pay }: DebitQuestion) {
  const { tab: option } = payer
  const { request } = order
  if (option === undefined) return undefined
  const { mint, cost } = terms
  await payer.onEvent({ kind: 'debiting', endpoint: quote.endpoint, mint, cost })
  const service = serviceOf(request, quote)
  const signed = signedRequestOf(request, { service, quote })
  if (signed === undefined) return undefined
  const question = { service, option, signal: request.signal, pay }
  const record = await findTab(payer, question)
  if (record === undefined) return undefined
  // Use the actual mint of the tab, because the deposit may have been paid in another mint than the expected one.
  const actual = mint === record.opened.mint ? terms : await termsIn(payer, quote, record.opened.mint)
  if (actual === undefined) return undefined

  const { maxBaseUnits } = actual
  const first = await presentDebit(payer, { record, order, maxBaseUnits, signed })
  if (typeof first !== 'string') return first
  if (first === 'INSUFFICIENT_BALANCE' && option.topUp === true && option.depositUsd > 0) {
    if (!(await topUpTab(payer, question, { record, neededBaseUnits: maxBaseUnits }))) return undefined
    const again = await presentDebit(payer, { record, order, maxBaseUnits, signed })
    return typeof again === 'string' ? undefined : again
  }
  if (endedReasons.has(first)) await markClosed(payer, question, record)
  return undefined
}

/**
 * Returns the terms in the mint of the tab. Without a tab, uses the first mint possible for a deposit. Undefined if no
 * mint is possible.
 */
async function expectedTerms(payer: Payer, request: PayableRequest, quote: PayableQuote) {
  const record = await payer.tabs.read(serviceOf(request, quote))
  const opened = record?.opened?.mint
  const { expectedMint } = payer.pins
  const own = [...(expectedMint === undefined ? [] : [expectedMint]), ...payer.dollarMints]
  // Try each mint, because the payer's dollar mints may be on several networks.
  for (const mint of opened === undefined ? own : [opened]) {
    const terms = await termsIn(payer, quote, mint)
    if (terms !== undefined) return terms
  }
  return undefined
}

/** Returns the URL of the service, which may include the base path of a gateway. */
function serviceOf({ content, tool }: PayableRequest, { endpoint }: PayableQuote): string {
  const { origin, pathname } = new URL(content.url)
  const path = tool === undefined ? pathOf(endpoint) : mcpPath
  // Remove the suffix of x402, because it belongs to the request and not to the service.
  return origin + (basePathOf(pathname, path) ?? '').replace(/\/x402$/, '')
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
 * Presents a debit. If a reason or an error is returned, nothing was charged. Throws a refusal that follows a lost
 * answer, because the lost request may still arrive. Another payment could then pay the order twice.
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

/**
 * True if the service refused the request itself, for example a wrong parameter. A separate payment would be refused
 * too.
 */
function isAboutRequest({ lastAnswer }: PaymentError): boolean {
  return lastAnswer?.code !== undefined && lastAnswer.status <= 499 && !mayHeal(lastAnswer.status)
}
