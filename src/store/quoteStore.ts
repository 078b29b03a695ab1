import { CompiledQuery } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { readAddress } from '@tollbook/core/address'
import type { OpenQuoteQuestion, PaymentLedger } from '../payment/paymentLedger.ts'
import type { Quote } from '@tollbook/core/quote'
import { type BatchQueue, createBatchQueue } from './batchQueue.ts'
import { type Database, readOrFault } from './database.ts'

// A quote row is small; at 128 the round trip is already spread thin (npm run bench -- quotes).
const batchMax = 128
const flushesMax = 2
const waitingMax = 10_000
// No quote lives longer than a day, so older partitions are never searched.
const quoteLifeMaxMs = 24 * 60 * 60 * 1000

export type QuoteQueue = BatchQueue<Quote, 'recorded'>

/** Stores quotes by group commit, as the ledger does events: a 402 costs a share of a commit, not a commit. */
export function createQuoteQueue(database: Database): QuoteQueue {
  return createBatchQueue({
    batchMax,
    flushesMax,
    waitingMax,
    keyOf: (quote) => quote.id,
    flush: async (batch) => {
      try {
        await database.executeQuery(CompiledQuery.raw(recordCall, columnsOf(batch)))
      } catch (error) {
        throw new Fault('quotes could not be stored', { cause: error, retryable: true })
      }
      return batch.map(() => ({ status: 'fulfilled' as const, value: 'recorded' as const }))
    },
  })
}

/** The arguments of `ledger.record_quotes`, one column each. */
const columns: Readonly<Record<string, (quote: Quote) => string | number>> = {
  ids: (quote) => quote.id,
  wallets: (quote) => quote.wallet,
  endpoints: (quote) => quote.endpoint,
  memos: (quote) => quote.memo,
  prices_micro_usd: (quote) => quote.priceMicroUsd.toString(),
  token_prices_atto_usd: (quote) => quote.tokenPriceAttoUsd.toString(),
  mints: (quote) => quote.mint,
  decimals: (quote) => quote.decimals,
  required: (quote) => quote.requiredBaseUnits.toString(),
  burn: (quote) => quote.burnBaseUnits.toString(),
  provider: (quote) => quote.providerBaseUnits.toString(),
  holders: (quote) => quote.holdersBaseUnits.toString(),
  treasury: (quote) => quote.treasuryBaseUnits.toString(),
  issued_ms: (quote) => quote.issuedAtMs,
  expires_ms: (quote) => quote.expiresAtMs,
  slots: (quote) => quote.slot,
}

const recordParameters = Object.keys(columns).map((name, index) => `${name} => $${index + 1}`)
const recordCall = `select ledger.record_quotes(${recordParameters.join(', ')})`

function columnsOf(batch: readonly Quote[]): unknown[] {
  return Object.values(columns).map((cell) => batch.map((quote) => cell(quote)))
}

export async function findOpenQuote(database: Database, question: OpenQuoteQuestion): Promise<Quote | undefined> {
  const { wallet, endpoint, landedAtMs, landedSlot, graceMs } = question
  const row = await readOrFault('open quotes', () =>
    database
      .selectFrom('ledger.quotes')
      .selectAll()
      .where('wallet', '=', wallet)
      .where('endpoint', '=', endpoint)
      .where('issued_at', '>', new Date(landedAtMs - quoteLifeMaxMs))
      .where('slot', '<=', landedSlot)
      .where('expires_at', '>', new Date(landedAtMs - graceMs))
      .orderBy('required')
      .orderBy('issued_at', 'desc')
      .limit(1)
      .executeTakeFirst(),
  )
  return row === undefined ? undefined : quoteOf(row)
}

type MemoQuestion = Parameters<PaymentLedger['findQuoteByMemo']>[0]

export async function findQuoteByMemo(database: Database, question: MemoQuestion): Promise<Quote | undefined> {
  const row = await readOrFault('the quote of a memo', () =>
    database
      .selectFrom('ledger.quotes')
      .selectAll()
      .where('wallet', '=', question.wallet)
      .where('endpoint', '=', question.endpoint)
      .where('issued_at', '>', new Date(question.issuedAfterMs))
      .where('memo', '=', question.memo)
      .limit(1)
      .executeTakeFirst(),
  )
  return row === undefined ? undefined : quoteOf(row)
}

interface QuoteRow {
  readonly id: string
  readonly wallet: string
  readonly endpoint: string
  readonly memo: string
  readonly price_micro_usd: number
  readonly token_price_atto_usd: string
  readonly mint: string
  readonly decimals: number
  readonly required: string
  readonly burn: string
  readonly provider: string
  readonly holders: string
  readonly treasury: string
  readonly issued_at: Date
  readonly expires_at: Date
  readonly slot: number
}

function quoteOf(row: QuoteRow): Quote {
  return {
    id: row.id,
    wallet: assertPresent(readAddress(row.wallet), 'a stored quote names a wallet'),
    endpoint: row.endpoint,
    memo: row.memo,
    priceMicroUsd: BigInt(row.price_micro_usd),
    tokenPriceAttoUsd: BigInt(row.token_price_atto_usd),
    mint: assertPresent(readAddress(row.mint), 'a stored quote names a mint'),
    decimals: row.decimals,
    requiredBaseUnits: BigInt(row.required),
    burnBaseUnits: BigInt(row.burn),
    providerBaseUnits: BigInt(row.provider),
    holdersBaseUnits: BigInt(row.holders),
    treasuryBaseUnits: BigInt(row.treasury),
    issuedAtMs: row.issued_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    slot: row.slot,
  }
}
