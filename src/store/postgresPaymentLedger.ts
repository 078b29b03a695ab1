import { evolve } from '../payment/payment.ts'
import type { AppendOutcome, PaymentChange, PaymentLedger } from '../payment/paymentLedger.ts'
import { paymentItem } from './appendBatch.ts'
import type { Database } from './database.ts'
import type { EventStore } from './eventStore.ts'
import { loadEarlierUse, loadPayment } from './paymentStream.ts'
import { findPrice } from './priceListStore.ts'
import { findOpenQuote, findQuoteByMemo, type QuoteQueue } from './quoteStore.ts'

export interface PaymentLedgerDeps {
  readonly database: Database
  readonly events: EventStore
  readonly quotes: QuoteQueue
}

/** The port of the paywall on Postgres. */
export function createPostgresPaymentLedger(deps: PaymentLedgerDeps): PaymentLedger {
  const { database } = deps
  return {
    async lookUp(question) {
      // In this order, not side by side: a payment that is seen fulfilled then always comes with its stored answer, and a
      // caller who repeats a request in that very moment is not told that the payment has been used.
      const payment = await loadPayment(database, question.signature)
      return { payment, earlier: await loadEarlierUse(database, question) }
    },
    append: (change) => append(deps, change),
    async recordQuote(quote) {
      await deps.quotes.submit(quote)
    },
    findOpenQuote: (question) => findOpenQuote(database, question),
    findQuoteByMemo: (question) => findQuoteByMemo(database, question),
    findPrice: (endpoint, atMs) => findPrice(database, endpoint, atMs),
  }
}

async function append({ events }: PaymentLedgerDeps, change: PaymentChange): Promise<AppendOutcome> {
  const appended = await events.submit(paymentItem(change))
  if (appended.outcome !== 'appended') return appended
  const after = change.events.reduce((state, event) => evolve(state, event, appended.recordedAtMs), change.before)
  return { ...appended, after }
}
