import { assert } from '@tollbook/core/assert'
import type { BoundQuoteQuestion, OpenQuoteQuestion } from '../payment/paymentLedger.ts'
import type { Quote } from '@tollbook/core/quote'

/**
 * Quotes that this process has stored. A quote never changes, so most payments find theirs here. This saves one query
 * for the rehearsal and one for the verdict. Payments for quotes of other processes query the database.
 */
export interface RecentQuotes {
  add(quote: Quote): void
  find(question: Omit<BoundQuoteQuestion, 'landedSlot' | 'graceMs'>): Quote | undefined
  /** The wallet's newest quote for the endpoint, if it is open at that moment. */
  findOpen(question: OpenQuoteQuestion): Quote | undefined
}

// A payment is made within a day of its quote. The database searches back as far.
const searchMs = 24 * 60 * 60 * 1000
// 12 MB of quotes. Fewer are paid for between a quote and its expiry.
const quotesMax = 20_000

/** Creates the bounded store. It drops the oldest quotes, which are then read from the database. */
export function createRecentQuotes(): RecentQuotes {
  const byMemo = new Map<string, Quote>()
  // A ring buffer, because V8 takes 15 µs to find a map's first entry: it walks over the deleted entries before it.
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
