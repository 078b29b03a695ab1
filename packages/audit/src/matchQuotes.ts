import { CopyRow } from './copyRow.ts'
import type { DatabaseSource } from './databaseSource.ts'
import type { Replay } from './replay.ts'

/*
 * A paid quote is copied whole into its payment's first event, so its row must say the same for as long as it is kept. Unpaid
 * quotes are not part of the ledger, and the partitions of old ones may be gone.
 */
const quotesQuery = 'select id, wallet, endpoint, mint, required, price_list from ledger.quotes'

export async function matchQuotes(replay: Replay, source: DatabaseSource): Promise<void> {
  const paymentsOf = replay.payments.indexByQuote()
  const reader = new CopyRow()
  for await (const { bytes, starts, count } of source.copy(quotesQuery)) {
    for (let index = 0; index < count; index++) {
      reader.open(bytes, starts[index] ?? 0)
      const quote = readQuote(reader)
      for (const payment of paymentsOf(replay.digest.of(quote.id))) matchPaid(replay, quote, payment)
    }
  }
}

interface QuoteRow {
  readonly id: string
  readonly wallet: string
  readonly endpoint: string
  readonly mint: string
  readonly requiredBaseUnits: bigint
  readonly priceList: number
}

function readQuote(row: CopyRow): QuoteRow {
  return {
    id: row.text() ?? '',
    wallet: row.latin1(),
    endpoint: row.text() ?? '',
    mint: row.latin1(),
    requiredBaseUnits: row.numeric(),
    priceList: row.int32(),
  }
}

function matchPaid({ payments, digest, names, prices, findings }: Replay, quote: QuoteRow, index: number): void {
  const payment = payments.read(index)
  const { id, wallet, endpoint, mint, requiredBaseUnits: required, priceList } = quote
  const listed = prices.listOf(priceList)
  const isListed = !Number.isNaN(priceList) && (listed === undefined || listed.includes(payment.priceDigest))
  const differing = [
    digest.of(wallet) !== payment.walletDigest && `the wallet ${wallet}`,
    endpoint !== names.nameOf(payment.endpoint) && `the endpoint ${endpoint}`,
    mint !== names.nameOf(payment.mint) && `the mint ${mint}`,
    required !== payment.requiredBaseUnits && `a price of ${required}, not ${payment.requiredBaseUnits}`,
    !isListed && 'a price list without the price that was paid',
  ].filter((difference) => difference !== false)
  if (differing.length === 0) return
  const message = `the row of the quote has ${differing.join('; ')}`
  findings.add('quote_differs', { position: payment.lastPosition, subject: id, message })
}
