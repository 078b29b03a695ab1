import { assertPresent } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { formatDecimal } from '@tollbook/core/money'
import type { LedgerToken } from '../ledgerToken.ts'
import { exportedShareColumn } from '../shareNames.ts'
import type { EntryRow, EventRow, PaymentRow } from './exportRows.ts'

/*
 * Rows as columns, for CSV and Parquet. Amounts in tokens are decimals with a point, amounts in base units are
 * integers.
 */

export type ExportCell = string | number | bigint | Date | null
export type ColumnType = 'text' | 'integer' | 'baseUnits' | 'time'

export interface Column<T> {
  readonly name: string
  readonly type: ColumnType
  readonly of: (row: T) => ExportCell
}

export type Decimals = (mint: string) => number

/** Returns a lookup of the decimals by mint, because entries do not contain them. */
export function decimalsOf(mints: readonly LedgerToken[]): Decimals {
  const known = new Map(mints.map(({ mint, decimals }) => [mint, decimals]))
  return (mint) =>
    assertPresent(known.get(mint), `the ledger has an account in each mint of its entries, and so in ${mint}`)
}

export const eventColumns: readonly Column<EventRow>[] = [
  { name: 'position', type: 'integer', of: (row) => row.position },
  { name: 'recorded_at', type: 'time', of: (row) => new Date(row.recordedAtMs) },
  { name: 'effective_at', type: 'time', of: (row) => new Date(row.effectiveAtMs) },
  { name: 'stream', type: 'text', of: (row) => row.stream },
  { name: 'version', type: 'integer', of: (row) => row.version },
  { name: 'kind', type: 'text', of: (row) => row.kind },
  { name: 'body', type: 'text', of: (row) => row.body },
  { name: 'leaf_hash', type: 'text', of: (row) => Buffer.from(row.leafHash).toString('hex') },
]

/**
 * Returns the columns of an entry. Debit and credit are separate columns, because spreadsheets expect them. One of the
 * two cells is null.
 */
export function entryColumns(decimals: Decimals): readonly Column<EntryRow>[] {
  const debit = (row: EntryRow): bigint | null => (row.amountBaseUnits > 0n ? row.amountBaseUnits : null)
  const credit = (row: EntryRow): bigint | null => (row.amountBaseUnits < 0n ? -row.amountBaseUnits : null)
  const tokens = (amountBaseUnits: bigint | null, row: EntryRow): string | null =>
    amountBaseUnits === null ? null : formatDecimal(amountBaseUnits, decimals(row.mint))
  return [
    { name: 'position', type: 'integer', of: (row) => row.position },
    { name: 'line', type: 'integer', of: (row) => row.line },
    { name: 'recorded_at', type: 'time', of: (row) => new Date(row.recordedAtMs) },
    { name: 'effective_at', type: 'time', of: (row) => new Date(row.effectiveAtMs) },
    { name: 'kind', type: 'text', of: (row) => row.kind },
    { name: 'payment', type: 'text', of: (row) => row.stream },
    { name: 'account', type: 'text', of: (row) => row.account },
    { name: 'mint', type: 'text', of: (row) => row.mint },
    { name: 'debit_tokens', type: 'text', of: (row) => tokens(debit(row), row) },
    { name: 'credit_tokens', type: 'text', of: (row) => tokens(credit(row), row) },
    { name: 'debit_base_units', type: 'baseUnits', of: debit },
    { name: 'credit_base_units', type: 'baseUnits', of: credit },
    { name: 'usd_at_quoted_price', type: 'text', of: ({ quotedPicoUsd }) => usd(quotedPicoUsd) },
    { name: 'usd_at_day_price', type: 'text', of: ({ dayPicoUsd }) => usd(dayPicoUsd) },
  ]
}

const picoUsdDecimals = 12

/** Returns the absolute value, because debits and credits have separate columns. */
function usd(picoUsd: bigint | undefined): string | null {
  return picoUsd === undefined ? null : formatDecimal(picoUsd < 0n ? -picoUsd : picoUsd, picoUsdDecimals)
}

const microUsdDecimals = 6

/** Returns the columns of a payment, with one column per share, for example `provider_base_units`. */
export function paymentColumns(shares: readonly string[]): readonly Column<PaymentRow>[] {
  return [...placeColumns, ...amountColumns, ...shares.map(shareColumn)]
}

const placeColumns: readonly Column<PaymentRow>[] = [
  { name: 'position', type: 'integer', of: (row) => row.position },
  { name: 'payment', type: 'text', of: (row) => row.settlement.reference },
  { name: 'recorded_at', type: 'time', of: (row) => new Date(row.recordedAtMs) },
  { name: 'paid_at', type: 'time', of: (row) => new Date(row.settlement.evidence.blockTimeMs) },
  {
    // A debit has no transaction, and so no slot.
    name: 'slot',
    type: 'integer',
    of: ({ settlement }) => (settlement.debit === undefined ? settlement.evidence.slot : null),
  },
  { name: 'wallet', type: 'text', of: (row) => row.settlement.wallet },
  { name: 'endpoint', type: 'text', of: (row) => row.settlement.price.endpoint },
  { name: 'quote', type: 'text', of: (row) => row.settlement.quoteId ?? null },
  { name: 'state', type: 'text', of: (row) => row.state },
  { name: 'attempts', type: 'integer', of: (row) => row.attempts },
  { name: 'fulfilled_position', type: 'integer', of: (row) => row.fulfilledPosition ?? null },
  {
    name: 'fulfilled_at',
    type: 'time',
    of: (row) => (row.fulfilledAtMs === undefined ? null : new Date(row.fulfilledAtMs)),
  },
]

const amountColumns: readonly Column<PaymentRow>[] = [
  { name: 'mint', type: 'text', of: (row) => row.settlement.price.mint },
  { name: 'decimals', type: 'integer', of: (row) => row.settlement.price.decimals },
  {
    name: 'price_usd',
    type: 'text',
    of: ({ settlement }) => formatDecimal(settlement.price.priceMicroUsd, microUsdDecimals),
  },
  {
    name: 'required_tokens',
    type: 'text',
    of: ({ settlement: { price } }) => formatDecimal(price.requiredBaseUnits, price.decimals),
  },
  { name: 'required_base_units', type: 'baseUnits', of: (row) => row.settlement.price.requiredBaseUnits },
  { name: 'burned_base_units', type: 'baseUnits', of: (row) => standing(row, row.settlement.burnedBaseUnits) },
  { name: 'burn_owed_base_units', type: 'baseUnits', of: (row) => standing(row, burnOwedBy(row)) },
  // A sale in dollars owes its burn in the service token, so the mint of this burn differs from the mint of the sale.
  { name: 'token_burn_mint', type: 'text', of: (row) => promisedBy(row)?.mint ?? null },
  { name: 'token_burn_base_units', type: 'baseUnits', of: (row) => standing(row, promisedBy(row)?.baseUnits ?? 0n) },
  { name: 'received_base_units', type: 'baseUnits', of: (row) => standing(row, row.settlement.receivedBaseUnits) },
  {
    name: 'deposited_base_units',
    type: 'baseUnits',
    of: ({ prepaidBaseUnits: netBaseUnits }) => (netBaseUnits > 0n ? netBaseUnits : 0n),
  },
  {
    name: 'paid_by_tab_base_units',
    type: 'baseUnits',
    of: ({ prepaidBaseUnits: netBaseUnits }) => (netBaseUnits < 0n ? -netBaseUnits : 0n),
  },
]

/**
 * Returns the column of a share. The share is 0 until the delivery, because before that the service owes the whole
 * payment to the caller.
 */
function shareColumn(name: string): Column<PaymentRow> {
  return {
    name: exportedShareColumn(name),
    type: 'baseUnits',
    of: ({ fulfilledPosition, settlement }) =>
      fulfilledPosition === undefined
        ? 0n
        : (settlement.price.shares.find(({ account }) => account === name)?.baseUnits ?? 0n),
  }
}

/** Returns the part of the price that is burned after the delivery instead of inside the payment. */
function burnOwedBy({ isBurnOwed, settlement }: PaymentRow): bigint {
  return isBurnOwed ? settlement.price.burnBaseUnits : 0n
}

/** Returns the burn in the service token. Undefined if no burn is owed or the price has no such burn. */
function promisedBy({ isBurnOwed, settlement }: PaymentRow) {
  return isBurnOwed ? settlement.price.tokenBurn : undefined
}

/** Returns 0 for a payment that the chain dropped, even if its transfer was later recorded as unmatched. */
function standing({ state }: PaymentRow, amountBaseUnits: bigint): bigint {
  return state === 'reversed' || state === 'unmatched' ? 0n : amountBaseUnits
}

export function cellText(cell: ExportCell): string {
  if (cell === null) return ''
  return cell instanceof Date ? isoTime(cell.getTime()) : String(cell)
}
