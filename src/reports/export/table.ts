import { isoTime } from '@tollbook/core/clock'
import { formatDecimal } from '@tollbook/core/money'
import type { EntryRow, EventRow, PaymentRow } from './exportRows.ts'

/*
 * Rows as columns, for CSV and Parquet alike. An amount of tokens is a decimal with a point, one of base units an integer;
 * debits and credits stand in columns of their own, so that no figure has a sign in front of it.
 */

export type Cell = string | number | bigint | Date | null
export type ColumnType = 'text' | 'integer' | 'baseUnits' | 'time'

export interface Column<T> {
  readonly name: string
  readonly type: ColumnType
  readonly of: (row: T) => Cell
}

export type Decimals = (mint: string) => number

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

export function entryColumns(decimals: Decimals): readonly Column<EntryRow>[] {
  const debit = (row: EntryRow): bigint | null => (row.amountBaseUnits > 0n ? row.amountBaseUnits : null)
  const credit = (row: EntryRow): bigint | null => (row.amountBaseUnits < 0n ? -row.amountBaseUnits : null)
  const tokens = (amount: bigint | null, row: EntryRow): string | null =>
    amount === null ? null : formatDecimal(amount, decimals(row.mint))
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
  ]
}

const microUsdDecimals = 6

export const paymentColumns: readonly Column<PaymentRow>[] = [
  { name: 'position', type: 'integer', of: (row) => row.position },
  { name: 'payment', type: 'text', of: (row) => row.settlement.signature },
  { name: 'recorded_at', type: 'time', of: (row) => new Date(row.recordedAtMs) },
  { name: 'paid_at', type: 'time', of: (row) => new Date(row.settlement.blockTimeMs) },
  { name: 'slot', type: 'integer', of: (row) => row.settlement.slot },
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
  { name: 'mint', type: 'text', of: (row) => row.settlement.price.mint },
  { name: 'decimals', type: 'integer', of: (row) => row.settlement.price.decimals },
  {
    name: 'price_usd',
    type: 'text',
    of: (row) => formatDecimal(row.settlement.price.priceMicroUsd, microUsdDecimals),
  },
  { name: 'required_tokens', type: 'text', of: (row) => tokensOf(row, row.settlement.price.requiredBaseUnits) },
  { name: 'required_base_units', type: 'baseUnits', of: (row) => row.settlement.price.requiredBaseUnits },
  { name: 'burned_base_units', type: 'baseUnits', of: (row) => stood(row, row.settlement.burnedBaseUnits) },
  { name: 'received_base_units', type: 'baseUnits', of: (row) => stood(row, row.settlement.receivedBaseUnits) },
  // What is due to whom is due once the request was delivered; until then all of it is owed to the caller.
  { name: 'provider_base_units', type: 'baseUnits', of: (row) => earned(row, 'providerBaseUnits') },
  { name: 'holders_base_units', type: 'baseUnits', of: (row) => earned(row, 'holdersBaseUnits') },
  { name: 'treasury_base_units', type: 'baseUnits', of: (row) => earned(row, 'treasuryBaseUnits') },
]

/** What the chain has dropped was neither burned nor received. */
function stood({ state }: PaymentRow, amount: bigint): bigint {
  return state === 'reversed' || state === 'unmatched' ? 0n : amount
}

function tokensOf({ settlement }: PaymentRow, amount: bigint): string {
  return formatDecimal(amount, settlement.price.decimals)
}

function earned(row: PaymentRow, share: 'providerBaseUnits' | 'holdersBaseUnits' | 'treasuryBaseUnits'): bigint {
  return row.fulfilledPosition === undefined ? 0n : row.settlement.price[share]
}

/** A cell as text, the same in every format that has no types. */
export function cellText(cell: Cell): string {
  if (cell === null) return ''
  return cell instanceof Date ? isoTime(cell.getTime()) : String(cell)
}
