import { checkQuote } from '../checkQuote.ts'
import { deliverPayment } from '../deliverPayment.ts'
import { pathOf } from '@tollbook/core/endpointName'
import type { PayableRequest } from '../payableRequest.ts'
import type { Payer } from '../payer.ts'
import { PaymentRefused } from '../paymentError.ts'
import type { Offer } from '../readOffer.ts'
import { SpendingLimitExceeded } from '../spendingLimit.ts'
import { findTab, type Pay, topUpTab } from './openTab.ts'
import { signDebit } from './tabDebit.ts'
import type { OpenedRecord } from './tabRecords.ts'

export interface TabOrder {
  readonly request: PayableRequest
  readonly idempotencyKey: string
  readonly offer: Offer
}

/** Pays by a debit of the tab at the service. Undefined if the offer has to be paid by itself. */
export async function payOnTab(payer: Payer, order: TabOrder, pay: Pay): Promise<Response | undefined> {
  const { tab: option } = payer
  const { request, offer } = order
  if (option === undefined || offer.sponsored !== undefined) return undefined
  const url = new URL(request.content.url)
  const quote = checkQuote({ offer, url, pins: payer.pins })
  // The payment by itself reports the problem.
  if ('problem' in quote) return undefined
  const { requiredBaseUnits, decimals } = quote
  requireWithinLimits(payer, url, payer.worth({ attoUsd: quote.priceAttoUsd, baseUnits: requiredBaseUnits }, decimals))

  const path = url.pathname.slice(0, url.pathname.length - pathOf(quote.endpoint).length)
  const question = { service: url.origin + path, option, signal: request.signal, pay }
  const record = await findTab(payer, question)
  if (record === undefined || record.opened.mint !== quote.mint) return undefined

  const debit = { record, order, maxBaseUnits: requiredBaseUnits }
  const first = await presentDebit(payer, debit)
  if (first instanceof Response) return first
  if (first === 'INSUFFICIENT_BALANCE' && option.topUp === true) {
    if (!(await topUpTab(payer, question, { record, neededBaseUnits: requiredBaseUnits }))) return undefined
    const again = await presentDebit(payer, debit)
    return again instanceof Response ? again : undefined
  }
  if (endedReasons.has(first)) await payer.tabs.write({ ...record, isClosed: true })
  return undefined
}

const endedReasons = new Set(['tab_closed', 'tab_key_replaced', 'tab_unknown', 'tab_signature_invalid'])

/** The deposit is counted already, so only the price itself is compared with the limits. */
function requireWithinLimits({ budget, clock }: Payer, { host }: URL, cost: { attoUsd: bigint; baseUnits: bigint }) {
  const excess = budget.findExcess({ ...cost, host, atMs: clock.nowMs() }, [])
  if (excess !== undefined) throw new SpendingLimitExceeded(excess)
}

interface DebitOrder {
  readonly record: OpenedRecord
  readonly order: TabOrder
  readonly maxBaseUnits: bigint
}

/**
 * Returns the answer, or the reason of a refusal that charged nothing. A refusal after a lost answer is thrown: the
 * lost request may still be on its way, and another payment could pay the order twice.
 */
async function presentDebit(payer: Payer, { record, order, maxBaseUnits }: DebitOrder): Promise<Response | string> {
  const { request, idempotencyKey } = order
  const payment = signDebit({ record, request, idempotencyKey, maxBaseUnits, nowMs: payer.clock.nowMs() })
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
    const isOfTab = error instanceof PaymentRefused && /^(tab_|INSUFFICIENT_BALANCE$)/.test(error.reason)
    if (isOfTab && !isLost) return error.reason
    throw error
  }
}
