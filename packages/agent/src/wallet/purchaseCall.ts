import type { Cost, PaymentProgress, PendingPayment } from '@tollbook/client'
import { formatUsd, readUsd } from '../attoUsd.ts'
import type { Policy } from '../policy/policy.ts'
import type { FetchOrder, QuoteNote } from '../walletWire.ts'
import { WalletRefusal } from './refusalError.ts'

/** One call of a front end, while the SDK works on it. */
export interface PurchaseCall {
  readonly order: FetchOrder
  readonly host: string
  readonly policy: Policy
  /** The payment of the call, once it is signed or resumed. */
  payment: PendingPayment | undefined
}

/** The price of a call that only asked for it. It stops the SDK before it signs. */
export class Quoted extends Error {
  override readonly name = 'Quoted'
  readonly quote: QuoteNote

  constructor(quote: QuoteNote) {
    super('only the price was asked for')
    this.quote = quote
  }
}

/** Watches the steps of a payment. A throw at its offer stops it before anything is signed. */
export function watchPurchase(call: PurchaseCall, event: PaymentProgress): void {
  if (event.kind === 'quoted') {
    const { quote, cost } = event.plan
    checkOffer(call, { protocol: 'tollbook', mint: quote.mint, payTo: quote.paymentWallet, cost })
  } else if (event.kind === 'offered') checkOffer(call, { ...event.plan.offer, cost: event.plan.cost })
  else if (event.kind === 'resumed' && call.order.intent === 'quote')
    throw new WalletRefusal('OPEN_PAYMENT', 'this request is paid and unanswered: pay_and_fetch finishes it')
  else if (event.kind === 'signed' || event.kind === 'resumed') call.payment = event.payment
}

interface Offer {
  readonly protocol: string
  readonly mint: string
  readonly payTo: string
  readonly cost: Cost
}

function checkOffer({ order, host, policy }: PurchaseCall, offer: Offer): void {
  const { attoUsd, baseUnits } = offer.cost
  const quote: QuoteNote = {
    protocol: offer.protocol,
    usd: formatUsd(attoUsd),
    baseUnits: baseUnits.toString(),
    mint: offer.mint,
    mintName: policy.mints[offer.mint]?.name ?? '',
    payTo: offer.payTo,
  }
  const payTo = policy.hosts[host]?.payTo
  if (payTo !== undefined && payTo !== offer.payTo)
    throw new WalletRefusal('RECIPIENT_NOT_LISTED', `the offer pays another wallet than the owner lists for ${host}`, {
      quote,
    })
  if (order.intent === 'quote') throw new Quoted(quote)
  if (order.maxUsd !== undefined && attoUsd > readUsd(order.maxUsd))
    throw new WalletRefusal('PRICE_TOO_HIGH', `the price is ${quote.usd} USD, and the call allows ${order.maxUsd}`, {
      quote,
    })
  // The SDK refuses a price above the limit of a request, so no person is asked for it.
  if (attoUsd > readUsd(policy.limits.perRequestUsd)) return
  const above = policy.confirmAboveUsd
  if (above !== undefined && attoUsd > readUsd(above) && !isAgreed(order, quote))
    throw new WalletRefusal('CONFIRMATION_NEEDED', `a payment above ${above} USD needs the owner's consent`, { quote })
}

function isAgreed({ agreed }: FetchOrder, { mint, payTo, baseUnits }: QuoteNote): boolean {
  return agreed?.mint === mint && agreed.payTo === payTo && BigInt(agreed.baseUnits) >= BigInt(baseUnits)
}
