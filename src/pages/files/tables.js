import { paymentAddress } from './address.js'
import { countText, tokensText } from './amounts.js'
import { stateMeaning, stateWord, totalWord } from './words.js'

const names = {
  day: 'Day (UTC)',
  endpoint: 'Endpoint',
  wallet: 'Wallet',
  account: 'Account',
  payments: 'Payments',
  entries: 'Entries',
  paidAt: 'Paid at (UTC)',
  fulfilledAt: 'Delivered at',
  finalizedAt: 'Final at',
  lastMovedAt: 'Last moved at',
  reference: 'Reference',
  state: 'State',
  attempts: 'Attempts',
  slot: 'Slot',
  position: 'Position',
  priceMicroUsd: 'Price (USD)',
  burnedMicroUsd: 'Burned (USD, quoted)',
  burnOwedMicroUsd: 'Owed to be burned (USD, quoted)',
  receivedMicroUsd: 'Received (USD, quoted)',
  allocatedMicroUsd: 'Allocated (USD, quoted)',
  cause: 'Cause',
  refund: 'Refund',
  approvedBaseUnits: 'Approved',
  decidedBy: 'Decided by',
  role: 'Role',
  reason: 'Reason',
  decidedAt: 'Decided at',
  payout: 'Payout',
  refundedAt: 'Refunded at',
  planId: 'Plan',
  part: 'Part',
  burnOwedBaseUnits: 'Owed to be burned',
  burnConfirmedBaseUnits: 'Burned later, by us',
  burnPaidBaseUnits: 'Taken for burning',
  lostBaseUnits: 'Lost to reversals',
  paidBaseUnits: 'Paid',
  paidOutBaseUnits: 'Paid out',
  paidBackBaseUnits: 'Paid back to wallets',
  openingDebitBaseUnits: 'Opening debit',
  openingCreditBaseUnits: 'Opening credit',
  closingDebitBaseUnits: 'Closing debit',
  closingCreditBaseUnits: 'Closing credit',
  owedBaseUnits: 'Owed back',
  total: 'Movement',
  amountBaseUnits: 'Tokens',
  atQuotedPriceMicroUsd: 'USD, quoted price',
  atDayPriceMicroUsd: 'USD, price of the day',
  listedAs: 'Listed as',
}

function isAtDayPrice(column) {
  return column.endsWith('AtDayPriceMicroUsd')
}

export function columnName(column) {
  if (names[column] !== undefined) return names[column]
  if (isAtDayPrice(column)) {
    const amount = column.replace(/AtDayPriceMicroUsd$/, 'BaseUnits')
    return `${columnName(amount)} (USD, price of the day)`
  }
  const bare = column.replace(/BaseUnits$/, '')
  // A share that is named like another column has `share-` in front.
  const name = bare.replace(/^share-/, 'Share ')
  return name[0].toUpperCase() + name.slice(1)
}

const shown = {
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
  payouts: ['paidAt', 'reference', 'planId', 'part', 'account', 'wallet', 'paidBaseUnits'],
}
// Columns of `distributions` that are mostly zero; its other columns depend on the split.
const folded = new Set(['burnOwedBaseUnits', 'lostBaseUnits', 'burnPaidBaseUnits', 'burnConfirmedBaseUnits'])

/** Columns that fit a screen of 1280 pixels; all of them on request. */
export function columnsShown(report, columns, all) {
  if (all) return columns
  const chosen = shown[report]
  if (chosen !== undefined) return columns.filter((column) => chosen.includes(column))
  const atQuotedPrice = columns.filter((column) => !isAtDayPrice(column))
  return report === 'distributions' ? atQuotedPrice.filter((column) => !folded.has(column)) : atQuotedPrice
}

/** One page of a report. Calls `onPayment` with the reference that was chosen. */
export function showTable(table, { columns, rows, totals, decimals, onPayment }) {
  const head = table.createTHead()
  head.replaceChildren()
  const line = head.insertRow()
  for (const column of columns) {
    const cell = document.createElement('th')
    cell.scope = 'col'
    cell.textContent = columnName(column)
    if (isNumber(column)) cell.className = 'number'
    line.append(cell)
  }
  table.tBodies[0]?.remove()
  const body = table.createTBody()
  for (const row of rows) fill(body.insertRow(), row, { columns, decimals, onPayment })
  table.tFoot?.remove()
  if (totals === null) return
  const foot = table.createTFoot().insertRow()
  fill(foot, totals, { columns, decimals })
  foot.cells[0].textContent = 'All of the range'
}

function fill(line, row, { columns, decimals, onPayment }) {
  columns.forEach((column, index) => {
    const cell = document.createElement(index === 0 ? 'th' : 'td')
    if (index === 0) cell.scope = 'row'
    if (isNumber(column)) cell.className = 'number'
    const value = row[column]
    if ((column === 'reference' || column === 'payout') && typeof value === 'string')
      cell.append(paymentLink(value, onPayment))
    else cell.append(...content(column, value, decimals))
    line.append(cell)
  })
}

function content(column, value, decimals) {
  if (value === null || value === undefined) return ['']
  if (column.endsWith('BaseUnits')) return [tokensText(value, decimals)]
  if (column.endsWith('MicroUsd')) return [tokensText(String(value), 6)]
  if (column === 'state') return [badge(value)]
  if (column === 'total') return [totalWord(value)]
  if (column.endsWith('At')) return [value.replace('T', ' ').replace(/\.\d+Z$/, '')]
  if (column === 'wallet' || column === 'planId') return [shortened(value)]
  return [typeof value === 'number' && column !== 'slot' && column !== 'position' ? countText(value) : String(value)]
}

function isNumber(column) {
  return /BaseUnits$|MicroUsd$|^(payments|entries|attempts|part|slot|position)$/.test(column)
}

function badge(state) {
  const mark = document.createElement('span')
  mark.className = `badge ${state}`
  mark.textContent = stateWord(state)
  mark.title = stateMeaning(state)
  return mark
}

function shortened(text) {
  const mark = document.createElement('span')
  mark.className = 'mono'
  mark.title = text
  mark.textContent = text.length > 14 ? `${text.slice(0, 6)}…${text.slice(-6)}` : text
  return mark
}

/** A link, so that a payment can be opened in another tab and sent to a colleague. */
function paymentLink(reference, onPayment) {
  const [, key = reference] = reference.split(':')
  const link = document.createElement('a')
  link.className = 'link mono'
  link.href = paymentAddress(reference)
  link.textContent = `${key.slice(0, 8)}…${key.slice(-4)}`
  link.title = 'Its diagnosis, events, transaction and proof'
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    onPayment(reference)
  })
  return link
}
