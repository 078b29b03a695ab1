import type { Cost, PaymentProgress, PendingPayment } from '@tollbook/client'
import { pathOf } from '@tollbook/core/endpointName'
import { methodToolName, toolNameOf } from '@tollbook/core/toolRequest'
import { formatUsd, readUsd } from '../attoUsd.ts'
import type { Policy } from '../policy/policy.ts'
import type { FetchOrder, QuoteNote } from '../walletWire.ts'
import { sellsTabs, tabsPath } from '../policy/tabOption.ts'
import { WalletRefusal } from './refusalError.ts'

export interface PurchaseCall {
  readonly order: FetchOrder
  readonly host: string
  readonly policy: Policy
  /** Undefined until the payment is signed or resumed. */
  payment: PendingPayment | undefined
  /** Maximum cost if the call is paid from a tab. The stored debit has cost 0, because its deposit was counted. */
  debit: Cost | undefined
}

/** Stops the SDK before it signs, because the call requested only the price. */
export class Quoted extends Error {
  override readonly name = 'Quoted'
  readonly quote: QuoteNote

  constructor(quote: QuoteNote) {
    super('only the price was asked for')
    this.quote = quote
  }
}

/** Notes what a call pays. Throws for a payment that the call may not make, before it is signed or presented again. */
export function watchPurchase(call: PurchaseCall, event: PaymentProgress): void {
  if (event.kind === 'debiting') {
    requireNoTab(pathOf(event.endpoint))
    call.debit = event.cost
    checkPrice(call, { protocol: 'tab', mint: event.mint, payTo: fromTab, cost: event.cost })
  } else if (event.kind === 'quoted') {
    const { quote, cost } = event.plan
    // Accept a deposit here: the policy permits it, and the SDK checks its size, its recipient and the limits.
    if (event.isDeposit) return
    requireNoTab(pathOf(quote.endpoint))
    checkOffer(call, { protocol: 'tollbook', mint: quote.mint, payTo: quote.paymentWallet, cost })
  } else if (event.kind === 'offered') {
    if (!event.isDeposit) checkOffer(call, { ...event.plan.offer, cost: event.plan.cost })
  } else if (event.kind === 'resumed' && call.order.intent === 'quote')
    throw new WalletRefusal('OPEN_PAYMENT', 'this request is paid and unanswered: pay_and_fetch finishes it')
  else if (event.kind === 'signed' || event.kind === 'resumed') call.payment = event.payment
}

/**
 * Refuses to buy a tab. The order of a tab contains the key that signs debits, so a model could choose this key and
 * spend the deposit outside the limits of the policy.
 */
export function requireNoTab(path: string, tool = ''): void {
  if (sellsTabs(path) || tabTools.has(tool))
    throw new WalletRefusal('URL_REFUSED', 'the wallet opens tabs by itself, where the policy permits them')
}

// Only the name of the tool shows that it sells tabs, because an offer of x402 or MPP does not name the product.
const tabTools = new Set([toolNameOf(tabsPath), methodToolName(tabsPath, 'POST')])

interface Offer {
  readonly protocol: string
  readonly mint: string
  readonly payTo: string
  readonly cost: Cost
}

// Recipient of a debit, as shown in the question to a person.
const fromTab = 'the service, from its tab'

/** Returns the cost of the purchase. For a debit, this is the maximum that it may charge. */
export function costOf({ payment, debit }: Pick<PurchaseCall, 'payment' | 'debit'>): Cost {
  if (payment?.debit !== undefined && debit !== undefined) return debit
  return { attoUsd: BigInt(payment?.costAttoUsd ?? '0'), baseUnits: BigInt(payment?.costBaseUnits ?? '0') }
}

function checkOffer(call: PurchaseCall, offer: Offer): void {
  const { host, policy } = call
  const payTo = policy.hosts[host]?.payTo
  if (payTo !== undefined && payTo !== offer.payTo)
    throw new WalletRefusal('RECIPIENT_NOT_LISTED', `the offer pays another wallet than the owner lists for ${host}`, {
      quote: quoteNoteOf(policy, offer),
    })
  checkPrice(call, offer)
}

function quoteNoteOf({ mints }: Policy, { protocol, mint, payTo, cost }: Offer): QuoteNote {
  const { attoUsd, baseUnits } = cost
  const mintName = mints[mint]?.name ?? ''
  return { protocol, usd: formatUsd(attoUsd), baseUnits: baseUnits.toString(), mint, mintName, payTo }
}

function checkPrice({ order, policy }: PurchaseCall, offer: Offer): void {
  const { attoUsd } = offer.cost
  const quote = quoteNoteOf(policy, offer)
  if (order.intent === 'quote') throw new Quoted(quote)
  if (order.maxUsd !== undefined && attoUsd > readUsd(order.maxUsd))
    throw new WalletRefusal('PRICE_TOO_HIGH', `the price is ${quote.usd} USD, and the call allows ${order.maxUsd}`, {
      quote,
    })
  // Do not ask a person if the price is above the limit per request, because the SDK refuses it anyway.
  if (attoUsd > readUsd(policy.limits.perRequestUsd)) return
  const above = policy.confirmAboveUsd
  if (above !== undefined && attoUsd > readUsd(above) && !isAgreed(order, quote))
    throw new WalletRefusal('CONFIRMATION_NEEDED', `a payment above ${above} USD needs the owner's consent`, { quote })
}

/** Compares the dollars too, because the tokens may have gained value since the person agreed. */
function isAgreed({ agreed }: FetchOrder, { mint, payTo, baseUnits, usd }: QuoteNote): boolean {
  if (agreed?.mint !== mint || agreed.payTo !== payTo) return false
  return BigInt(agreed.baseUnits) >= BigInt(baseUnits) && readUsd(agreed.usd) >= readUsd(usd)
}
