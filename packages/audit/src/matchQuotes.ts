import type { AuditedStream } from './auditedStream.ts'
import { readRows } from './copyRow.ts'
import type { DatabaseSource } from './databaseSource.ts'
import type { Replay } from './replay.ts'

/*
 * Compares the stored quotes with the payments, because the first event of a payment copies its quote. Unpaid quotes
 * are not compared: they are not part of the ledger. Partitions of old quotes may have been dropped.
 */
const quotesQuery = 'select id, wallet, endpoint, mint, required, price_list from ledger.quotes'

export async function matchQuotes(replay: Replay, source: DatabaseSource): Promise<void> {
  const paymentsOf = replay.streams.selectByQuote()
  await readRows(source.copy(quotesQuery), (row) => {
    const id = row.text() ?? ''
    const terms = { wallet: row.latin1(), endpoint: row.text() ?? '', mint: row.latin1() }
    const quote = { id, ...terms, requiredBaseUnits: row.numeric(), priceList: row.int32() }
    for (const payment of paymentsOf(id)) matchPaid(replay, quote, payment)
  })
}

interface QuoteRow {
  readonly id: string
  readonly wallet: string
  readonly endpoint: string
  readonly mint: string
  readonly requiredBaseUnits: bigint
  readonly priceList: number
}

function matchPaid({ prices, findings }: Replay, quote: QuoteRow, payment: AuditedStream): void {
  const { id, priceList } = quote
  const terms = ['wallet', 'endpoint', 'mint', 'requiredBaseUnits'] as const
  const differing = terms
    .filter((term) => quote[term] !== payment[term])
    .map((term) => `${term} ${quote[term]}, not ${payment[term]}`)
  const isListed = !Number.isNaN(priceList) && (!prices.knows(priceList) || prices.has(priceList, payment.price))
  if (!isListed) differing.push('a price list without the price that was paid')
  if (differing.length === 0) return
  const message = `the row of the quote has ${differing.join('; ')}`
  findings.add('quote_differs', { position: payment.lastPosition, subject: id, message })
}
