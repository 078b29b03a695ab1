import type { Reconciliation } from '../../diagnosis/reconcile.ts'
import { paymentAddress } from './pageAddress.ts'
import { countText, timeText, tokensNumber, tokensText } from './amounts.ts'
import type { ReportPage, Row, Summary } from './answers.ts'
import { type Parameters, read } from './api.ts'
import { drawDays, drawNames } from './charts.ts'
import { all, type Content, element, one } from './element.ts'
import { columnName, tableContent } from './tables.ts'

const daysShownMax = '1000'

/** Shows the figures of the ledger. If chain and ledger differ, a button calls `onReconcile`. */
export async function showSummary(status: HTMLElement, onReconcile: () => void): Promise<void> {
  const summary = await read<Summary>('summary')
  const { ledger, asOf, publicUrl } = summary
  one('.cards').replaceChildren(...cardsOf(summary, onReconcile))
  one('#reconciliation').hidden = true
  // The reports follow the ledger with a delay.
  const behind = ledger.headPosition - ledger.position
  const late = behind > 0 ? `; ${behind} events are still being added up` : ''
  status.textContent = `As of ${timeText(asOf)} UTC, position ${ledger.position} of the ledger${late}. Amounts are in tokens.`
  status.append(...mintLinks(summary))
  // Public pages cannot be linked while the service does not know its public address.
  for (const link of all('a.public')) {
    link.hidden = publicUrl === null
    link.setAttribute('href', `${publicUrl ?? ''}${link.dataset['path'] ?? ''}`)
  }
  showLiabilities(summary)
}

/** Returns links to the other mints. Each figure is in one mint, so they are shown by the same page at another address. */
function mintLinks({ mint: shown, mints }: Summary): readonly Content[] {
  const name = mints.find(({ mint }) => mint === shown)?.name ?? ''
  const links = mints
    .filter(({ mint }) => mint !== shown)
    .flatMap(({ mint, name: other }) => [
      ' ',
      element('a', { href: `?${new URLSearchParams({ mint })}` }, `Show ${other}`),
    ])
  return links.length === 0 ? [] : [` All are ${name}.`, ...links]
}

function cardsOf(summary: Summary, onReconcile: () => void): readonly HTMLElement[] {
  const { decimals, burnOwedSince, burnConfirmedBaseUnits, paymentWalletBaseUnits } = summary
  const { paymentWalletOnChainBaseUnits: chainBaseUnits } = summary
  const tokens = (text: string) => tokensText(text, decimals)
  const later = burnConfirmedBaseUnits === '0' ? [] : [`${tokens(burnConfirmedBaseUnits)} of it later, by us`]
  const since = burnOwedSince === null ? [] : [`since ${timeText(burnOwedSince).slice(0, 16)} UTC`]
  const reconcile = element('button', { type: 'button', className: 'link', id: 'reconcile' }, 'Show the transfers')
  reconcile.addEventListener('click', onReconcile)
  const difference = chainBaseUnits === null ? [] : [differenceText(chainBaseUnits, paymentWalletBaseUnits, tokens)]
  const differs = chainBaseUnits !== null && chainBaseUnits !== paymentWalletBaseUnits
  return [
    card('Burned', tokens(summary.burnedBaseUnits), later),
    card('Owed to be burned', tokens(summary.burnOwedBaseUnits), since),
    card('Payments', countText(summary.payments)),
    card('Payment wallet, in the ledger', tokens(paymentWalletBaseUnits)),
    card('Payment wallet, on chain', chainBaseUnits === null ? 'no node answers' : tokens(chainBaseUnits), [
      ...difference,
      ...(differs ? [reconcile] : []),
    ]),
    card('Owed in all', tokens(summary.owedBaseUnits)),
    card('Owed back to wallets', tokens(summary.refundsDueBaseUnits)),
    card('Lost to reversals', tokens(summary.lostBaseUnits)),
  ]
}

function card(name: string, text: string, notes: readonly Content[] = []): HTMLElement {
  const small = notes.map((note) => element('dd', { className: 'muted' }, note))
  return element('div', {}, element('dt', {}, name), element('dd', {}, text), ...small)
}

function differenceText(
  chainBaseUnits: string,
  ledgerBaseUnits: string,
  tokens: (baseUnits: string) => string,
): string {
  const differenceBaseUnits = BigInt(chainBaseUnits) - BigInt(ledgerBaseUnits)
  if (differenceBaseUnits === 0n) return 'the same as in the ledger'
  // A surplus is not an error: a transfer without a request is recorded only when it is too late to present it as a
  // payment.
  if (differenceBaseUnits > 0n)
    return `${tokens(String(differenceBaseUnits))} more than in the ledger: arrived and not recorded, or not yet`
  return `${tokens(String(-differenceBaseUnits))} less than in the ledger: left, and no payout is recorded`
}

function showLiabilities(summary: Summary): void {
  const { decimals, liabilities, owedBaseUnits, paymentWalletBaseUnits } = summary
  const chainBaseUnits = summary.paymentWalletOnChainBaseUnits
  const lines: (readonly [name: string, baseUnits: string])[] = [
    ...(chainBaseUnits === null ? [] : [['wallet, on chain', chainBaseUnits] as const]),
    ['wallet, in the ledger', paymentWalletBaseUnits],
    ['owed, in all', owedBaseUnits],
    ...liabilities.map((line) => [line.account.replace('Liabilities:', ''), line.owedBaseUnits] as const),
  ]
  drawNames(one('#chart-liabilities'), {
    columns: ['Balance', 'Tokens'],
    lines: lines.map(([name, baseUnits]) => nameLine(name, baseUnits, decimals)),
  })
}

export async function showReconciliation(): Promise<void> {
  const found = await read<Reconciliation & { readonly decimals: number }>('reconciliation')
  const { transfers, differenceBaseUnits, remainderBaseUnits, searched, decimals } = found
  const section = one('#reconciliation')
  one('p', section).textContent =
    `The final difference is ${tokensText(differenceBaseUnits, decimals)} tokens; ${tokensText(remainderBaseUnits, decimals)} of it is in none of the newest ${countText(searched)} transactions.`
  const lines = transfers.map(({ signature, baseUnits, blockTime, wallet, proposal }) => {
    const link = element('a', { href: paymentAddress(signature) }, `${signature.slice(0, 8)}…`)
    const text = ` ${tokensText(baseUnits, decimals)} tokens, ${blockTime ?? ''} ${wallet ?? ''}. ${proposal}`
    return element('li', {}, link, text)
  })
  one('ul', section).replaceChildren(...lines)
  section.hidden = false
}

export function showCharts(range: Parameters): readonly Promise<void>[] {
  return [showBurns(range), showEndpoints(range), showDistribution(range)]
}

async function showBurns(range: Parameters): Promise<void> {
  const page = await read<ReportPage>('burns', { ...range, by: 'day', limit: daysShownMax })
  const labels = { burnedBaseUnits: 'Burned by callers', burnConfirmedBaseUnits: 'Burned later, by us' }
  drawShares('#chart-burns', page, { title: 'Tokens burned per day', labels })
}

async function showEndpoints(range: Parameters): Promise<void> {
  const { rows, decimals } = await read<ReportPage>('distributions', { ...range, by: 'endpoint', limit: '100' })
  drawNames(one('#chart-endpoints'), {
    columns: ['Endpoint', 'Received'],
    lines: rows.map((row) => nameLine(textOf(row, 'endpoint'), textOf(row, 'receivedBaseUnits'), decimals)),
  })
}

async function showDistribution(range: Parameters): Promise<void> {
  const page = await read<ReportPage>('distributions', { ...range, by: 'day', limit: daysShownMax })
  const { columns } = page
  // The columns between received and allocated amounts are the shares of the split.
  const shares = columns
    .slice(columns.indexOf('receivedBaseUnits') + 1, columns.indexOf('allocatedBaseUnits'))
    .filter((column) => column.endsWith('BaseUnits'))
  const labels = Object.fromEntries(shares.map((share) => [share, columnName(share)]))
  drawShares('#chart-distribution', page, { title: 'Tokens allocated per day', labels })
}

function drawShares(
  place: string,
  { rows, decimals }: ReportPage,
  { title, labels }: { readonly title: string; readonly labels: Readonly<Record<string, string>> },
): void {
  // Reverse the rows, because reports are newest first, and charts oldest first.
  const days = rows.toReversed()
  drawDays(one(place), {
    title,
    days: days.map((row) => textOf(row, 'day')),
    series: Object.entries(labels).map(([column, label]) => {
      return { label, values: days.map((row) => tokensNumber(textOf(row, column), decimals)) }
    }),
    table: tableContent({ columns: ['day', ...Object.keys(labels)], rows, decimals }),
  })
}

function nameLine(name: string, baseUnits: string, decimals: number) {
  return { name, value: tokensNumber(baseUnits, decimals), text: tokensText(baseUnits, decimals) }
}

function textOf(row: Row, column: string): string {
  return String(row[column] ?? '')
}
