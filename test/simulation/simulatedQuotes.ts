import { timeOf } from './statementValue.ts'

/** `ledger.quotes` and its functions (migrations/functions/quotes.sql). */
export interface QuoteRow {
  readonly id: unknown
  readonly wallet: unknown
  readonly endpoint: unknown
  readonly memo: unknown
  readonly price_list: unknown
  readonly mint: unknown
  readonly required: string
  readonly issued_at: Date
  readonly expires_at: Date
  readonly slot: number
}

export function recordQuotes(quotes: QuoteRow[], values: readonly unknown[]): readonly object[] {
  const columns = values.map((column): readonly unknown[] => (Array.isArray(column) ? column : []))
  for (const n of (columns[0] ?? []).keys()) {
    const [id, wallet, endpoint, memo, priceList, mint, required, issued, expires, slot] = columns.map((c) => c[n])
    quotes.push({
      id,
      wallet,
      endpoint,
      memo,
      price_list: priceList,
      mint,
      required: String(required),
      issued_at: new Date(Number(issued)),
      expires_at: new Date(Number(expires)),
      slot: Number(slot),
    })
  }
  return []
}

const dayMs = 24 * 60 * 60 * 1000

export function findOpenQuote(quotes: readonly QuoteRow[], values: readonly unknown[]): readonly object[] {
  const [wallet, endpoint, landed, slot, graceMs] = values
  const landedAtMs = timeOf(landed)
  return quotes
    .filter((quote) => quote.wallet === wallet && quote.endpoint === endpoint)
    .filter(({ issued_at: issued, slot: from }) => issued.getTime() > landedAtMs - dayMs && from <= Number(slot))
    .filter(({ expires_at: expires }) => expires.getTime() > landedAtMs - Number(graceMs))
    .toSorted((one, other) => {
      const difference = BigInt(one.required) - BigInt(other.required)
      return difference === 0n ? other.issued_at.getTime() - one.issued_at.getTime() : Number(difference)
    })
    .slice(0, 1)
}

export function findBoundQuote(quotes: readonly QuoteRow[], values: readonly unknown[]): readonly object[] {
  const [wallet, endpoint, memo, landed, slot, graceMs] = values
  const withMemo = quotes
    .filter((quote) => quote.memo === memo && quote.wallet === wallet && quote.endpoint === endpoint)
    .filter(({ issued_at: issued }) => issued.getTime() > timeOf(landed) - dayMs)
  const open = findOpenQuote(withMemo, [wallet, endpoint, landed, slot, graceMs])
  if (open.length > 0) return open
  return withMemo.toSorted((one, other) => one.slot - other.slot).slice(0, 1)
}
