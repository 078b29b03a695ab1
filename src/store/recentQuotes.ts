import { assert } from '@tollbook/core/assert'
import type { BoundQuoteQuestion, OpenQuoteQuestion } from '../payment/paymentLedger.ts'
import type { Quote } from '@tollbook/core/quote'

/**
 * Quotes that this process has stored. A quote never changes, so most payments find theirs here, without a query for the
 * rehearsal and another for the verdict. The payments of other processes' quotes ask the database.
 */
export interface RecentQuotes {
  add(quote: Quote): void
  find(question: Omit<BoundQuoteQuestion, 'landedSlot' | 'graceMs'>): Quote | undefined
  /** The newest quote of the wallet and endpoint, if it is open then. */
  findOpen(question: OpenQuoteQuestion): Quote | undefined
}

// A payment is made within a day of its quote; the database searches as far back.
const searchMs = 24 * 60 * 60 * 1000
// 12 MB. More than are paid for between a quote and its expiry.
const quotesMax = 20_000

/** Bounded: the oldest quotes are forgotten, and then read from the database. */
export function createRecentQuotes(): RecentQuotes {
  const byMemo = new Map<string, Quote>()
  // A ring, because the first entry of a map costs 15 µs to find: V8 walks over the deleted entries before it.
  const inOrder: Quote[] = []
  let position = 0
  const newest = new Map<string, Quote>()
  const payingFor = ({ wallet, endpoint }: Pick<Quote, 'wallet' | 'endpoint'>) => `${wallet} ${endpoint}`
  const forget = (quote: Quote): void => {
    byMemo.delete(quote.memo)
    if (newest.get(payingFor(quote)) === quote) newest.delete(payingFor(quote))
  }
  return {
    add(quote) {
      const oldest = inOrder[position]
      if (oldest !== undefined) forget(oldest)
      inOrder[position] = quote
      position = (position + 1) % quotesMax
      byMemo.set(quote.memo, quote)
      newest.set(payingFor(quote), quote)
      assert(byMemo.size <= quotesMax, 'no more quotes are kept than fit')
    },
    find({ wallet, endpoint, memo, landedAtMs }) {
      const quote = byMemo.get(memo)
      const isAsked =
        quote?.wallet === wallet && quote.endpoint === endpoint && quote.issuedAtMs > landedAtMs - searchMs
      return isAsked ? quote : undefined
    },
    findOpen({ landedAtMs, landedSlot, graceMs, ...paying }) {
      const quote = newest.get(payingFor(paying))
      const isOpen = quote !== undefined && landedAtMs < quote.expiresAtMs + graceMs && quote.slot <= landedSlot
      return isOpen ? quote : undefined
    },
  }
}
