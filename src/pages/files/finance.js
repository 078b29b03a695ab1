import { countText, showFigure, tokensNumber, tokensText } from './amounts.js'
import { paymentAddress, readAddress, writeAddress } from './address.js'
import { Forbidden, forgetToken, hasToken, keepToken, read, Refused, takeTokenFromFragment } from './api.js'
import { drawDays, drawNames, tableBehind } from './charts.js'
import { createClosingView } from './closing.js'
import { openPayment } from './paymentDialog.js'
import { createReportBrowser } from './reports.js'
import { columnName } from './tables.js'

const one = (selector) => document.querySelector(selector)
const status = one('#status')
const fields = { from: one('#from'), to: one('#to'), month: one('#month'), quarter: one('#quarter') }
const range = () => {
  const { month, quarter, from, to } = fields
  if (month.value !== '') return { month: month.value }
  if (quarter.value !== '') return { quarter: quarter.value }
  return { from: from.value, to: to.value }
}
const daysShownMax = '1000'
const firstDay = '1970-01-01'
const quartersShown = 12
// A signature has at least 64 characters.
const isWallet = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

const reports = createReportBrowser(one('#reports'), { range, onPayment: showPayment, onFault: tell })
const closing = createClosingView(one('#closing'), {
  today: () => dayBefore(0),
  onFault: tell,
  onShown: ({ month, status: state }) => (status.textContent = `Statement of ${month}, ${state}.`),
})
const isClosingShown = () => readAddress().closing !== undefined

one('#sign-in form').addEventListener('submit', (event) => {
  event.preventDefault()
  keepToken(one('#token').value)
  one('#token').value = ''
  void show()
})
one('#sign-out').addEventListener('click', () => {
  forgetToken()
  signedOut('')
})
one('#payment .close').addEventListener('click', () => one('#payment').close())
one('#payment').addEventListener('close', () => writeAddress({ payment: '' }))
one('#find').addEventListener('submit', (event) => {
  event.preventDefault()
  const subject = one('#subject').value.trim()
  if (isWallet.test(subject)) showWallet(subject)
  else showPayment(subject)
})
one('#reconcile').addEventListener('click', () => {
  writeAddress({ view: 'reconciliation' })
  void showReconciliation().catch(tell)
})
one('#range').addEventListener('submit', (event) => event.preventDefault())
one('#range').addEventListener('change', ({ target }) => {
  keepOnePeriod(target)
  keepRange()
  void showRange()
})
for (const button of document.querySelectorAll('#range button')) {
  button.addEventListener('click', () => {
    const { days } = button.dataset
    fields.from.value = days === 'all' ? '' : dayBefore(Number(days) - 1)
    fields.to.value = ''
    keepOnePeriod(fields.from)
    keepRange(days === 'all')
    void showRange()
  })
}
fields.quarter.append(...lastQuarters().map((quarter) => new Option(quarter.replace('-', ' '), quarter)))

takeTokenFromFragment()
addEventListener('hashchange', () => {
  takeTokenFromFragment()
  if (hasToken()) void show()
})
addEventListener('popstate', () => {
  restoreRange()
  reports.restore()
  if (hasToken()) void show()
})
restoreRange()
if (hasToken()) void show()
else signedOut('')

/** A month, a quarter and two days are alternatives. */
function keepOnePeriod(changed) {
  const isDays = changed === fields.from || changed === fields.to
  for (const field of Object.values(fields))
    if (field !== changed && !(isDays && (field === fields.from || field === fields.to))) field.value = ''
}

/** An empty range of days is the standard of the page, so all days are written as the first one. */
function keepRange(isAll = false) {
  const { from, to, month, quarter } = fields
  const first = isAll ? firstDay : from.value
  writeAddress({ from: first, to: to.value, month: month.value, quarter: quarter.value })
}

function restoreRange() {
  const address = readAddress()
  for (const [name, field] of Object.entries(fields)) field.value = address[name] ?? ''
  if (address.from === firstDay) fields.from.value = ''
  else if (Object.values(range()).every((value) => value === '')) fields.from.value = dayBefore(29)
}

function showPayment(subject) {
  openPayment(one('#payment'), subject).then(
    (reference) => writeAddress({ payment: reference.replace(/^solana:/, '') }, { isNew: true }),
    tell,
  )
}

/** Its payments of all days. */
function showWallet(wallet) {
  for (const field of Object.values(fields)) field.value = ''
  keepRange(true)
  writeAddress({ report: 'payments', wallet, state: '', endpoint: '' })
  reports.restore()
  void showRange()
}

function lastQuarters() {
  const [year, month] = dayBefore(0).split('-').map(Number)
  const newest = year * 4 + Math.floor((month - 1) / 3)
  return Array.from({ length: quartersShown }, (_, back) => {
    const nth = newest - back
    return `${Math.floor(nth / 4)}-Q${(nth % 4) + 1}`
  })
}

async function show() {
  try {
    if (isClosingShown()) return await showClosing()
    const isWhole = await showSummary().then(() => true, toleratesRole)
    for (const part of document.querySelectorAll('.whole')) part.hidden = !isWhole
    signedIn('#ledger')
    await (isWhole ? showRange() : reports.show().catch(tell))
    const { payment, view } = readAddress()
    if (isWhole && view === 'reconciliation') await showReconciliation()
    if (payment !== undefined && !one('#payment').open) showPayment(payment)
  } catch (error) {
    tell(error)
  }
}

async function showClosing() {
  one('#title').textContent = 'Month end'
  document.title = 'Month end · Finance · Tollbook'
  signedIn('#closing')
  await closing.show()
}

function signedIn(view) {
  for (const part of ['#sign-in', '#ledger', '#closing']) one(part).hidden = part !== view
  one('#sign-out').hidden = false
}

/** Support reads single payments and refunds, and no sums. */
function toleratesRole(error) {
  if (!(error instanceof Forbidden)) throw error
  status.textContent = 'This token reads payments, refunds and explanations.'
  return false
}

function signedOut(why) {
  one('#sign-in').hidden = false
  one('#ledger').hidden = true
  one('#closing').hidden = true
  one('#sign-out').hidden = true
  status.textContent = why
}

function tell(error) {
  if (error instanceof Refused) {
    forgetToken()
    signedOut(`Not signed in: ${error.message}.`)
  } else {
    status.textContent = `That did not work: ${error.message}.`
  }
}

async function showSummary() {
  const summary = await read('summary')
  const { decimals, ledger, liabilities, asOf } = summary
  const tokens = (text) => tokensText(text, decimals)
  const onChain = summary.paymentWalletOnChainBaseUnits
  const texts = {
    payments: countText(summary.payments),
    burned: tokens(summary.burnedBaseUnits),
    'burn-owed': tokens(summary.burnOwedBaseUnits),
    wallet: tokens(summary.paymentWalletBaseUnits),
    chain: onChain === null ? 'no node answers' : tokens(onChain),
    owed: tokens(summary.owedBaseUnits),
    refunds: tokens(summary.refundsDueBaseUnits),
    lost: tokens(summary.lostBaseUnits),
  }
  for (const [name, text] of Object.entries(texts)) showFigure(one(`#card-${name}`), text)
  one('#difference').textContent = differenceText(summary, tokens)
  one('#reconcile').hidden = onChain === null || onChain === summary.paymentWalletBaseUnits
  one('#reconciliation').hidden = true
  one('#burned-later').textContent =
    summary.burnConfirmedBaseUnits === '0' ? '' : `${tokens(summary.burnConfirmedBaseUnits)} of it later, by us`
  one('#burn-owed-since').textContent =
    summary.burnOwedSince === null ? '' : `since ${summary.burnOwedSince.slice(0, 16).replace('T', ' ')} UTC`
  const behind = ledger.headPosition - ledger.position
  status.textContent = `As of ${asOf.slice(0, 19).replace('T', ' ')} UTC, position ${ledger.position} of the ledger${behind > 0 ? `; ${behind} events are still being added up` : ''}. Amounts are in tokens.`

  for (const link of document.querySelectorAll('a.public')) {
    link.hidden = summary.publicUrl === null
    link.href = `${summary.publicUrl ?? ''}${link.dataset.path}`
  }
  const figure = one('#chart-liabilities')
  const lines = [
    ...(onChain === null ? [] : [['wallet, on chain', onChain]]),
    ['wallet, in the ledger', summary.paymentWalletBaseUnits],
    ['owed, in all', summary.owedBaseUnits],
    ...liabilities.map(({ account, owedBaseUnits }) => [account.replace('Liabilities:', ''), owedBaseUnits]),
  ]
  drawNames(figure, {
    title: 'Debts, against the balance of the payment wallet',
    names: lines.map(([name]) => name),
    values: lines.map(([, amount]) => tokensNumber(amount, decimals)),
  })
  tableBehind(
    figure,
    ['', 'Tokens'],
    lines.map(([name, amount]) => [name, tokens(amount)]),
  )
}

/** Each transfer that is on chain and not in the ledger. */
async function showReconciliation() {
  const { transfers, differenceBaseUnits, remainderBaseUnits, searched, decimals } = await read('reconciliation')
  const section = one('#reconciliation')
  section.querySelector('p').textContent =
    `The final difference is ${tokensText(differenceBaseUnits, decimals)} tokens; ${tokensText(remainderBaseUnits, decimals)} of it is in none of the newest ${countText(searched)} transactions.`
  const lines = transfers.map(({ signature, baseUnits, blockTime, wallet, proposal }) => {
    const item = document.createElement('li')
    const link = document.createElement('a')
    link.href = paymentAddress(signature)
    link.textContent = `${signature.slice(0, 8)}…`
    item.append(link, ` ${tokensText(baseUnits, decimals)} tokens, ${blockTime ?? ''} ${wallet ?? ''}. ${proposal}`)
    return item
  })
  section.querySelector('ul').replaceChildren(...lines)
  section.hidden = false
}

function differenceText({ paymentWalletBaseUnits, paymentWalletOnChainBaseUnits: onChain }, tokens) {
  if (onChain === null) return ''
  const difference = BigInt(onChain) - BigInt(paymentWalletBaseUnits)
  if (difference === 0n) return 'the same as in the ledger'
  // A transfer without a request is recorded once it is too late to present it as a payment: until then nothing is wrong.
  if (difference > 0n)
    return `${tokens(String(difference))} more than in the ledger: arrived and not recorded, or not yet`
  return `${tokens(String(-difference))} less than in the ledger: left, and no payout is recorded`
}

async function showRange() {
  const charts = one('.charts').hidden ? [] : [showBurns(), showEndpoints(), showDistribution()]
  await Promise.all([...charts, reports.show()]).catch(tell)
}

async function showBurns() {
  const { rows, decimals } = await read('burns', { ...range(), by: 'day', limit: daysShownMax })
  const days = rows.toReversed()
  const figure = one('#chart-burns')
  drawDays(figure, {
    title: 'Tokens burned per day',
    days: days.map(({ day }) => day),
    series: [
      { label: 'Burned by callers', values: days.map((row) => tokensNumber(row.burnedBaseUnits, decimals)) },
      { label: 'Burned later, by us', values: days.map((row) => tokensNumber(row.burnConfirmedBaseUnits, decimals)) },
    ],
  })
  tableBehind(
    figure,
    ['Day', 'Burned by callers', 'Burned later, by us', 'Payments'],
    rows.map((row) => [
      row.day,
      tokensText(row.burnedBaseUnits, decimals),
      tokensText(row.burnConfirmedBaseUnits, decimals),
      countText(row.payments),
    ]),
  )
}

async function showEndpoints() {
  const { rows, decimals } = await read('distributions', { ...range(), by: 'endpoint', limit: '100' })
  const figure = one('#chart-endpoints')
  drawNames(figure, {
    title: 'Received per endpoint',
    names: rows.map(({ endpoint }) => endpoint.replace(/^\/api\//, '')),
    values: rows.map((row) => tokensNumber(row.receivedBaseUnits, decimals)),
  })
  tableBehind(
    figure,
    ['Endpoint', 'Received', 'Allocated'],
    rows.map((row) => [
      row.endpoint,
      tokensText(row.receivedBaseUnits, decimals),
      tokensText(row.allocatedBaseUnits, decimals),
    ]),
  )
}

async function showDistribution() {
  const { columns, rows, decimals } = await read('distributions', { ...range(), by: 'day', limit: daysShownMax })
  const days = rows.toReversed()
  // One column per share of the split, between what was received and what was allocated in all.
  const shares = columns
    .slice(columns.indexOf('receivedBaseUnits') + 1, columns.indexOf('allocatedBaseUnits'))
    .filter((column) => column.endsWith('BaseUnits'))
  const names = shares.map(columnName)
  const figure = one('#chart-distribution')
  drawDays(figure, {
    title: `Allocated per day to ${names.join(', ')}`,
    asLines: true,
    days: days.map(({ day }) => day),
    series: shares.map((share, index) => ({
      label: names[index],
      values: days.map((row) => tokensNumber(row[share], decimals)),
    })),
  })
  tableBehind(
    figure,
    ['Day', ...names],
    rows.map((row) => [row.day, ...shares.map((share) => tokensText(row[share], decimals))]),
  )
}

function dayBefore(days) {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
}
