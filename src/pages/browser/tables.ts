import { paymentAddress, paymentKey } from './pageAddress.ts'
import { countText, timeText, tokensText } from './amounts.ts'
import type { Cell, ReportPage, Row } from './answers.ts'
import { type Content, element, type TableContent } from './element.ts'
import { stateMeaning, stateWord } from './words.ts'

/**
 * Returns the heading of a column: `burnOwedBaseUnits`, the name in the CSV and in docs/finance.md, becomes `Burn
 * owed`.
 */
export function columnName(column: string): string {
  const words = column
    .replace(/BaseUnits$/, '')
    .replace(/MicroUsd$/, ' (USD)')
    .replaceAll(/[A-Z](?=[a-z])/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const shown: Readonly<Record<string, readonly string[]>> = {
  payments: [
    'paidAt',
    'reference',
    'wallet',
    'endpoint',
    'state',
    'requiredBaseUnits',
    'burnedBaseUnits',
    'receivedBaseUnits',
    'owedBaseUnits',
    'priceMicroUsd',
  ],
  refunds: [
    'paidAt',
    'reference',
    'wallet',
    'cause',
    'refund',
    'owedBaseUnits',
    'paidBaseUnits',
    'decidedBy',
    'reason',
    'payout',
  ],
  'decision-log': [
    'decidedAt',
    'decision',
    'reference',
    'grantedBaseUnits',
    'approvedBaseUnits',
    'decidedBy',
    'role',
    'reason',
  ],
  payouts: ['paidAt', 'reference', 'planId', 'part', 'account', 'wallet', 'paidBaseUnits'],
}
// Values of these columns are mostly zero. The other columns of `distributions` depend on the split.
const folded: Readonly<Record<string, readonly string[]>> = {
  distributions: ['burnOwedBaseUnits', 'lostBaseUnits', 'burnPaidBaseUnits', 'burnConfirmedBaseUnits'],
  burns: ['promisedBaseUnits', 'deliveredBaseUnits'],
}

/** Returns the columns that fit a screen of 1280 pixels, or all columns if `all` is set. */
export function columnsShown(report: string, columns: readonly string[], all: boolean): readonly string[] {
  if (all) return columns
  const chosen = shown[report]
  if (chosen !== undefined) return columns.filter((column) => chosen.includes(column))
  return columns.filter((column) => !column.endsWith('AtDayPriceMicroUsd') && folded[report]?.includes(column) !== true)
}

export interface ReportTable extends Pick<ReportPage, 'columns' | 'rows' | 'decimals'> {
  readonly totals?: Row | null
  readonly onPayment?: (reference: string) => void
}

export function tableContent(report: ReportTable): TableContent {
  const { columns, rows, totals = null } = report
  const cellsOf = (row: Row) => columns.map((column) => content(column, row[column] ?? null, report))
  return {
    columns: columns.map((column) => ({ name: columnName(column), isNumber: isNumber(column) })),
    rows: rows.map(cellsOf),
    ...(totals === null ? {} : { foot: ['All of the range', ...cellsOf(totals).slice(1)] }),
  }
}

function content(column: string, value: Cell, { decimals, onPayment }: ReportTable): Content {
  if (value === null) return ''
  const text = String(value)
  if (column === 'reference' || column === 'payout') return paymentLink(text, onPayment)
  if (column.endsWith('BaseUnits')) return tokensText(text, decimals)
  if (column.endsWith('MicroUsd')) return tokensText(text, 6)
  if (column === 'state') return badge(text)
  if (column.endsWith('At')) return timeText(text)
  if (column === 'wallet' || column === 'planId') return shortened(text)
  if (column === 'verdict') return text.replace('_', ' ')
  return typeof value === 'number' && column !== 'slot' && column !== 'position' ? countText(value) : text
}

function isNumber(column: string): boolean {
  return /BaseUnits$|MicroUsd$|^(payments|entries|attempts?|part|slot|position)$/.test(column)
}

function badge(state: string): HTMLElement {
  return element('span', { className: `badge ${state}`, title: stateMeaning(state) }, stateWord(state))
}

function shortened(text: string): HTMLElement {
  const shown = text.length > 14 ? `${text.slice(0, 6)}…${text.slice(-6)}` : text
  return element('span', { className: 'mono', title: text }, shown)
}

/**
 * Creates a link instead of a button, so that a reader can open a payment in another tab or send its address to a
 * colleague.
 */
function paymentLink(reference: string, onPayment: ReportTable['onPayment']): HTMLElement {
  const key = paymentKey(reference)
  const title = 'Its diagnosis, events, transaction and proof'
  const properties = { className: 'link mono', href: paymentAddress(reference), title }
  const link = element('a', properties, `${key.slice(0, 8)}…${key.slice(-4)}`)
  link.addEventListener('click', (event) => {
    // Leave a click with one of these keys to the browser, because it then opens another tab or window.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    onPayment?.(key)
  })
  return link
}
