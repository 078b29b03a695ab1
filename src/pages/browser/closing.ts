import type { ClosingStatement, SignedClosing } from '@tollbook/core/closingStatement'
import { readAddress, writeAddress } from './address.ts'
import { countText, timeText, tokensText } from './amounts.ts'
import { read, saveFile } from './api.ts'
import { closingTables, tableCsv } from './closingTables.ts'
import { all, type Content, element, factsOf, one, oneOf } from './element.ts'
import { showTable } from './tables.ts'

export interface ClosingDeps {
  /** Returns the current UTC day, such as `2026-10-02`. */
  readonly today: () => string
  readonly onFault: (error: unknown) => void
  readonly onShown: (statement: ClosingStatement) => void
}

/** Creates the view of a closing statement. The address names its month. */
export function createClosingView(section: HTMLElement, { today, onFault, onShown }: ClosingDeps) {
  const month = oneOf(HTMLInputElement, '[name=month]', section)
  const whole = one('.statement', section)
  /** The signed statement on the page, which the downloads contain. */
  let closing: SignedClosing | undefined
  /** Number of the newest request. Older answers may arrive later and are dropped. */
  let asked = 0

  async function show(): Promise<void> {
    const { closing: given = '' } = readAddress()
    month.max = monthBefore(today(), 0)
    month.value = /^\d{4}-\d{2}$/.test(given) ? given : month.max
    writeAddress({ closing: month.value })
    section.setAttribute('aria-busy', 'true')
    const turn = ++asked
    try {
      const answer = await read<SignedClosing>('closing', { month: month.value })
      if (turn !== asked) return
      closing = answer
      whole.hidden = false
      showStatement(section, answer.statement)
      onShown(answer.statement)
    } catch (error) {
      if (turn !== asked) return
      whole.hidden = true
      onFault(error)
    } finally {
      if (turn === asked) section.removeAttribute('aria-busy')
    }
  }

  function choose(chosen: string): void {
    if (chosen === '') return
    writeAddress({ closing: chosen }, { isNew: true })
    void show()
  }
  one('form', section).addEventListener('submit', (event) => event.preventDefault())
  month.addEventListener('change', () => choose(month.value))
  for (const button of all('[data-back]', section))
    button.addEventListener('click', () => choose(monthBefore(today(), Number(button.dataset['back']))))
  for (const button of all('[data-save]', section))
    button.addEventListener('click', () => closing && save(closing, button.dataset['save'] ?? ''))
  return { show }
}

// Maximum of rows on the page. A statement lists up to 2,000 late entries, and the files contain all of them.
const rowsShownMax = 100

function showStatement(section: HTMLElement, statement: ClosingStatement): void {
  const { month, status, decimals, restatedCount, recordedLaterCount } = statement
  one('#statement-title', section).textContent = `Closing statement of ${month}: ${status}`
  one('.meaning', section).textContent = meaningOf(statement)
  one('.facts', section).replaceChildren(...statementFacts(statement))
  const tables = closingTables(statement)
  for (const [name, { columns, rows }] of Object.entries(tables)) {
    const table = oneOf(HTMLTableElement, `[data-table=${name}]`, section)
    showTable(table, { columns, rows: rows.slice(0, rowsShownMax), totals: null, decimals })
  }
  one('.no-balances', section).hidden = tables.accounts.rows.length > 0
  const cut =
    tables.entries.rows.length > rowsShownMax
      ? ` The first ${rowsShownMax} are shown; the files have up to 1,000 of each.`
      : ''
  one('.late', section).textContent =
    `${countText(restatedCount)} restated in this statement, ${countText(recordedLaterCount)} recorded later.${cut}`
  for (const part of all('.scroll:has([data-table=entries]), [data-save=entries]', section))
    part.hidden = restatedCount + recordedLaterCount === 0
  one('.behind', section).replaceChildren('Behind these figures: ', ...reportLinks(month))
  const previous = `--previous ${fileName(monthBefore(month, 1))} `
  one('.verify', section).textContent = ['', previous]
    .map((option) => `npx tollbook verify ${fileName(month)} ${option}--key jwks.json`)
    .join('\n')
}

function meaningOf({ status, closesAt, position }: ClosingStatement): string {
  return status === 'final'
    ? 'The month is closed. Every later statement of it has the same figures.'
    : `The month is closed at ${timeText(closesAt)} UTC. The figures are those up to position ${position}, the newest checkpoint of the ledger; later events change them.`
}

function statementFacts(statement: ClosingStatement): readonly HTMLElement[] {
  const { origin, mint, position, treeSize, root, decimals, owedBaseUnits, issuedAt } = statement
  return factsOf([
    ['Owed in all', `${tokensText(owedBaseUnits, decimals)} tokens`],
    ['Price of a token', priceText(statement)],
    ['Ledger', origin],
    ['Token', mint],
    ['Last position', countText(position)],
    ['Checkpoint', `${countText(treeSize)} events, root ${root}`],
    ['Issued at', `${timeText(issuedAt)} UTC`],
  ])
}

// Decimals of token prices, which are small: 12 decimals show 10^-12 dollars.
const priceDecimals = 12

function priceText({ closingPrice, decimals }: ClosingStatement): string {
  if (closingPrice === null) return 'no payment yet'
  const { day, priceMicroUsd, forBaseUnits } = closingPrice
  const scaled = (BigInt(priceMicroUsd) * 10n ** BigInt(decimals + priceDecimals - 6)) / BigInt(forBaseUnits)
  return `${tokensText(String(scaled), priceDecimals)} USD, mean of the quotes of ${day}`
}

const reportsOfMonth = {
  payments: 'Payments',
  burns: 'Burns',
  distributions: 'Distributions',
  refunds: 'Refunds',
  payouts: 'Payouts',
  'trial-balance': 'Trial balance',
}

function reportLinks(month: string): readonly Content[] {
  return Object.entries(reportsOfMonth).flatMap(([report, name], index) => {
    const link = element('a', { href: `?${new URLSearchParams({ report, month }).toString()}` }, name)
    return index === 0 ? [link] : [', ', link]
  })
}

function save(closing: SignedClosing, what: string): void {
  const { statement } = closing
  if (what === 'signed') {
    const text = `${JSON.stringify(closing)}\n`
    saveFile(fileName(statement.month), new Blob([text], { type: 'application/json' }))
  }
  for (const [name, table] of Object.entries(closingTables(statement)))
    if (name === what) {
      const text = tableCsv(table, statement.decimals)
      saveFile(`tollbook-closing-${statement.month}-${name}.csv`, new Blob([text], { type: 'text/csv' }))
    }
}

function fileName(month: string): string {
  return `tollbook-closing-${month}.json`
}

/** Returns the month of a day such as `2026-10`, or the one that many months earlier. */
function monthBefore(day: string, months: number): string {
  const [year = 0, number = 0] = day.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 - months)).toISOString().slice(0, 7)
}
