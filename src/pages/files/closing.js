import { countText, tokensText } from './amounts.js'
import { read, saveFile } from './api.js'
import { readAddress, writeAddress } from './address.js'
import { closingTables, tableCsv } from './closingTables.js'
import { showTable } from './tables.js'

/** The closing statement of the month that the address names. */
export function createClosingView(section, { today, onFault, onShown }) {
  const one = (selector) => section.querySelector(selector)
  const month = one('[name=month]')
  /** The signed statement that is shown; the downloads are this one. */
  let closing
  /** Answers may come in another order than they were asked for: only the newest is shown. */
  let asked = 0

  async function show() {
    const given = readAddress().closing
    month.max = monthBefore(today(), 0)
    month.value = /^\d{4}-\d{2}$/.test(given) ? given : month.max
    writeAddress({ closing: month.value })
    section.setAttribute('aria-busy', 'true')
    const turn = ++asked
    try {
      const answer = await read('closing', { month: month.value })
      if (turn !== asked) return
      closing = answer
      one('.statement').hidden = false
      showStatement(section, closing.statement)
      onShown(closing.statement)
    } catch (error) {
      if (turn !== asked) return
      one('.statement').hidden = true
      onFault(error)
    } finally {
      if (turn === asked) section.removeAttribute('aria-busy')
    }
  }

  function choose(chosen) {
    if (chosen === '') return
    writeAddress({ closing: chosen }, { isNew: true })
    void show()
  }
  one('form').addEventListener('submit', (event) => event.preventDefault())
  month.addEventListener('change', () => choose(month.value))
  for (const button of section.querySelectorAll('[data-back]'))
    button.addEventListener('click', () => choose(monthBefore(today(), Number(button.dataset.back))))
  for (const button of section.querySelectorAll('[data-save]'))
    button.addEventListener('click', () => save(closing, button.dataset.save))
  return { show }
}

// A statement lists up to 2,000 late entries. The files have them all.
const rowsShownMax = 100

function showStatement(section, statement) {
  const one = (selector) => section.querySelector(selector)
  const { month, status, decimals, restatedCount, recordedLaterCount } = statement
  one('#statement-title').textContent = `Closing statement of ${month}: ${status}`
  one('.meaning').textContent = meaningOf(statement)
  one('.facts').replaceChildren(...factsOf(statement))
  const tables = closingTables(statement)
  for (const [name, { columns, rows }] of Object.entries(tables))
    showTable(one(`[data-table=${name}]`), { columns, rows: rows.slice(0, rowsShownMax), totals: null, decimals })
  one('.no-balances').hidden = tables.accounts.rows.length > 0
  const counted = restatedCount + recordedLaterCount
  one('.late').textContent =
    `${countText(restatedCount)} restated in this statement, ${countText(recordedLaterCount)} recorded later.` +
    (tables.entries.rows.length > rowsShownMax
      ? ` The first ${rowsShownMax} are shown; the files have up to 1,000 of each.`
      : '')
  for (const part of [one('[data-table=entries]').parentElement, one('[data-save=entries]')])
    part.hidden = counted === 0
  one('.behind').replaceChildren('Behind these figures: ', ...reportLinks(month))
  one('.verify').textContent = [
    `npx tollbook verify ${fileName(month)} --key jwks.json`,
    `npx tollbook verify ${fileName(month)} --previous ${fileName(monthBefore(month, 1))} --key jwks.json`,
  ].join('\n')
}

function meaningOf({ status, closesAt, position }) {
  return status === 'final'
    ? 'The month is closed. Every later statement of it has the same figures.'
    : `The month is closed at ${timeText(closesAt)} UTC. The figures are those up to position ${position}, the newest checkpoint of the ledger; later events change them.`
}

function factsOf({ origin, mint, position, treeSize, root, closingPrice, decimals, owedBaseUnits, issuedAt }) {
  const facts = [
    ['Owed in all', `${tokensText(owedBaseUnits, decimals)} tokens`],
    ['Price of a token', closingPrice === null ? 'no payment yet' : priceText(closingPrice, decimals)],
    ['Ledger', origin],
    ['Token', mint],
    ['Last position', countText(position)],
    ['Checkpoint', `${countText(treeSize)} events, root ${root}`],
    ['Issued at', `${timeText(issuedAt)} UTC`],
  ]
  return facts.flatMap(([name, text]) => [element('dt', name), element('dd', text)])
}

// Prices of tokens are small: 12 decimals show 10^-12 dollars.
const priceDecimals = 12

function priceText({ day, priceMicroUsd, forBaseUnits }, decimals) {
  const scaled = (BigInt(priceMicroUsd) * 10n ** BigInt(decimals + priceDecimals - 6)) / BigInt(forBaseUnits)
  return `${tokensText(String(scaled), priceDecimals)} USD, mean of the quotes of ${day}`
}

const reportsOfMonth = [
  ['payments', 'Payments'],
  ['burns', 'Burns'],
  ['distributions', 'Distributions'],
  ['refunds', 'Refunds'],
  ['payouts', 'Payouts'],
  ['trial-balance', 'Trial balance'],
]

function reportLinks(month) {
  return reportsOfMonth.flatMap(([report, name], index) => {
    const link = element('a', name)
    link.href = `?${new URLSearchParams({ report, month })}`
    return index === 0 ? [link] : [', ', link]
  })
}

function save(closing, what) {
  const { month, decimals } = closing.statement
  const file =
    what === 'signed'
      ? { name: fileName(month), text: `${JSON.stringify(closing)}\n`, type: 'application/json' }
      : {
          name: `tollbook-closing-${month}-${what}.csv`,
          text: tableCsv(closingTables(closing.statement)[what], decimals),
          type: 'text/csv',
        }
  saveFile(file.name, new Blob([file.text], { type: file.type }))
}

function fileName(month) {
  return `tollbook-closing-${month}.json`
}

/** The month of a day or month, such as `2026-10`, or an earlier one. */
function monthBefore(day, months) {
  const [year, number] = day.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 - months)).toISOString().slice(0, 7)
}

function timeText(time) {
  return time.slice(0, 19).replace('T', ' ')
}

function element(tag, text) {
  const created = document.createElement(tag)
  created.textContent = text
  return created
}
