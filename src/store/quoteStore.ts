import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { readAddress } from '@tollbook/core/address'
import type { BoundQuoteQuestion, OpenQuoteQuestion } from '../payment/paymentLedger.ts'
import type { Quote } from '@tollbook/core/quote'
import { type BatchQueue, createBatchQueue } from '@tollbook/ledger/batchQueue'
import type { QueryRunner } from '@tollbook/ledger/database'
import { queryPrepared } from '@tollbook/ledger/queryPrepared'
import { type Database, readRows } from './database.ts'
import type { PriceListStore } from './priceListStore.ts'

// Maximum of quotes per batch. A quote row is small, so at 128 the cost of the round trip per quote is already low (npm
// run bench -- quotes).
const batchMax = 128
const flushesMax = 2
const waitingMax = 10_000

export type QuoteQueue = BatchQueue<Quote, 'recorded'>

/**
 * Creates a queue that stores quotes by group commit, as the ledger stores events. Each 402 answer then costs only a
 * share of a commit.
 */
export function createQuoteQueue(pool: QueryRunner): QuoteQueue {
  return createBatchQueue({
    batchMax,
    flushesMax,
    waitingMax,
    keyOf: (quote) => quote.id,
    flush: async (batch) => {
      try {
        const values = columnsOf(batch)
        await queryPrepared(pool, 'record_quotes', (statement) =>
          pool.query({ ...statement, text: recordCall, values }),
        )
      } catch (error) {
        throw new Fault('quotes could not be stored', { cause: error, retryable: true })
      }
      return batch.map(() => ({ status: 'fulfilled' as const, value: 'recorded' as const }))
    },
  })
}

/** Arguments of `ledger.record_quotes`, passed by name so that their order does not matter. */
const columns: Readonly<Record<string, (quote: Quote) => string | number>> = {
  ids: (quote) => quote.id,
  wallets: (quote) => quote.wallet,
  endpoints: (quote) => quote.endpoint,
  memos: (quote) => quote.memo,
  price_lists: (quote) => quote.priceList,
  mints: (quote) => quote.mint,
  required: (quote) => quote.requiredBaseUnits.toString(),
  issued_ms: (quote) => quote.issuedAtMs,
  expires_ms: (quote) => quote.expiresAtMs,
  slots: (quote) => quote.slot,
}

const recordParameters = Object.keys(columns).map((name, index) => `${name} => $${index + 1}`)
const recordCall = `select ledger.record_quotes(${recordParameters.join(', ')})`

function columnsOf(batch: readonly Quote[]): unknown[] {
  assert(
    batch.every(({ issuedAtMs, expiresAtMs }) => expiresAtMs > issuedAtMs),
    'a quote is open for a time',
  )
  return Object.values(columns).map((cell) => batch.map((quote) => cell(quote)))
}

export interface QuoteSearchDeps {
  readonly database: Database
  readonly priceLists: Pick<PriceListStore, 'listNumber'>
}

export async function findOpenQuote(deps: QuoteSearchDeps, question: OpenQuoteQuestion): Promise<Quote | undefined> {
  const { wallet, endpoint, landedAtMs, landedSlot, graceMs } = question
  const rows = await readRows(deps.database, 'open quotes')<QuoteRow>`
    select * from ledger.find_open_quote(${wallet}, ${endpoint}, ${new Date(landedAtMs)}, ${landedSlot},
      ${graceMs}::float8 * interval '1 millisecond')`
  return quoteOf(deps, rows[0])
}

/**
 * Finds the cheapest quote with this memo that was open when the payment landed, otherwise another quote with the memo.
 * Undefined if there is none within 24 hours of the landing.
 */
export async function findBoundQuote(deps: QuoteSearchDeps, question: BoundQuoteQuestion): Promise<Quote | undefined> {
  const { wallet, endpoint, memo, landedAtMs, landedSlot, graceMs } = question
  // A memo of the chain may contain this character, and a text of PostgreSQL cannot.
  if (memo.includes('\0')) return undefined
  const rows = await readRows(deps.database, 'the quote of a memo')<QuoteRow>`
    select * from ledger.find_bound_quote(${wallet}, ${endpoint}, ${memo}, ${new Date(landedAtMs)}, ${landedSlot},
      ${graceMs}::float8 * interval '1 millisecond')`
  return quoteOf(deps, rows[0])
}

export interface QuoteRow {
  readonly id: string
  readonly wallet: string
  readonly endpoint: string
  readonly memo: string
  readonly price_list: number
  readonly mint: string
  readonly required: string
  readonly issued_at: Date
  readonly expires_at: Date
  readonly slot: number
}

/** Completes a row from its price list, because the row states only the required amount. */
async function quoteOf({ priceLists }: QuoteSearchDeps, row: QuoteRow | undefined): Promise<Quote | undefined> {
  if (row === undefined) return undefined
  const list = assertPresent(await priceLists.listNumber(row.price_list), 'a quote names a price list on record')
  const price = list.prices.find(({ endpoint, mint }) => endpoint === row.endpoint && mint === row.mint)
  assert(price?.requiredBaseUnits === BigInt(row.required), 'a quote asks for the price of its list')
  return {
    ...price,
    priceList: row.price_list,
    id: row.id,
    wallet: assertPresent(readAddress(row.wallet), 'a stored quote names a wallet'),
    memo: row.memo,
    issuedAtMs: row.issued_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    slot: row.slot,
  }
}
