import { assert } from '@tollbook/core/assert'
import type { BoundQuoteQuestion, OpenQuoteQuestion } from '../payment/paymentLedger.ts'
import type { Quote } from '@tollbook/core/quote'

/**
 * Quotes that this process has stored. A quote never changes, so a payment can use this copy and save a query. A
 * payment for a quote of another process queries the database.
 */
export interface RecentQuotes {
  add(quote: Quote): void
  find(question: Omit<BoundQuoteQuestion, 'landedSlot' | 'graceMs'>): Quote | undefined
  /** Considers only the wallet's newest quote for the endpoint. */
  findOpen(question: OpenQuoteQuestion): Quote | undefined
}

// Maximum age of a quote that `find` returns. The database searches the same time.
const searchMs = 24 * 60 * 60 * 1000
// Maximum number of stored quotes, about 12 MB.
const quotesMax = 20_000

/** Stores the newest quotes. A payment for an older quote reads the database. */
export function createRecentQuotes(): RecentQuotes {
  const byMemo = new Map<string, Quote>()
  // A ring buffer, because V8 takes 15 µs to find a map's first entry after deletions: it walks over the deleted
  // entries.
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
