import type { Explanation } from '../../diagnosis/explanation.ts'
import { tokensText } from './amounts.ts'
import type { Refund } from './answers.ts'
import { element, foldedTable } from './element.ts'
import { type ReportTable, tableContent } from './tables.ts'

export function showExplanation(section: HTMLElement, explanation: Explanation, decimals: number): void {
  const { diagnosis, chain, rules, attempts, quote } = explanation
  const muted = (text: string) => element('p', { className: 'muted' }, text)
  const quoted = quote === null ? [] : [muted(quoteText(quote, decimals))]
  section.replaceChildren(
    element('h3', {}, 'Diagnosis'),
    element('p', { className: 'staff' }, diagnosis.staff),
    element('p', { className: 'caller' }, `Next step of the caller: ${diagnosis.caller}`),
    muted(chainText(chain, decimals)),
    ...quoted,
    ...folded('Rules', {
      columns: ['rule', 'asks', 'verdict', 'why'],
      rows: rules.map((rule) => ({ ...rule })),
      decimals,
    }),
    ...folded('Attempts', {
      columns: ['attempt', 'outcome', 'reason', 'startedAt', 'endedAt'],
      rows: attempts.map((attempt) => ({ ...attempt })),
      decimals,
    }),
  )
}

function quoteText(
  { id, requiredBaseUnits, endpoint, expiresAt }: NonNullable<Explanation['quote']>,
  decimals: number,
): string {
  return `Quote ${id}: ${tokensText(requiredBaseUnits, decimals)} tokens for ${endpoint}, open until ${expiresAt}`
}

function chainText(
  { status, words, arrivedBaseUnits, burnedBaseUnits }: Explanation['chain'],
  decimals: number,
): string {
  if (arrivedBaseUnits === null || burnedBaseUnits === null) return `Chain: ${status}. ${words}`
  const [arrived, burned] = [tokensText(arrivedBaseUnits, decimals), tokensText(burnedBaseUnits, decimals)]
  return `Chain: ${status}. ${words} ${arrived} tokens arrived, ${burned} were burned.`
}

function folded(title: string, table: ReportTable) {
  return table.rows.length === 0 ? [] : [foldedTable(title, tableContent(table))]
}

export function showRefunds(section: HTMLElement, refunds: readonly Refund[], decimals: number): void {
  const lines = refunds.map((refund) => element('li', {}, refundText(refund, decimals)))
  const list = [element('h3', {}, 'Refunds'), element('ul', {}, ...lines)]
  section.replaceChildren(...(lines.length === 0 ? [] : list))
}

function refundText(refund: Refund, decimals: number): string {
  const { cause, state, owedBaseUnits, paidBaseUnits, decisions, payouts } = refund
  const by = payouts.map(({ reference }) => reference).join(', ')
  return [
    `${tokensText(owedBaseUnits, decimals)} tokens, ${cause}: ${state.replace('_', ' ')}`,
    ...(paidBaseUnits === '0' ? [] : [`${tokensText(paidBaseUnits, decimals)} paid by ${by}`]),
    ...decisions.map(
      ({ kind, by, role, reason, decidedAt }) => `${kind} by ${by} (${role}) at ${decidedAt}: ${reason}`,
    ),
  ].join('; ')
}
