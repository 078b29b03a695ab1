import { tokensText } from './amounts.js'

/** The diagnosis of one payment with its rules and attempts. */
export function showExplanation(section, { explanation, decimals }) {
  const { diagnosis, chain, rules, attempts, quote } = explanation
  section.replaceChildren(
    element('h3', 'Diagnosis'),
    element('p', diagnosis.staff, 'staff'),
    element('p', `Next step of the caller: ${diagnosis.caller}`, 'caller'),
    element('p', chainText(chain, decimals), 'muted'),
    ...(quote === null
      ? []
      : [
          element(
            'p',
            `Quote ${quote.id}: ${tokensText(quote.requiredBaseUnits, decimals)} tokens for ${quote.endpoint}, open until ${quote.expiresAt}`,
            'muted',
          ),
        ]),
    ...folded(
      'Rules',
      rules.map(({ rule, asks, verdict, why }) => [rule, asks, words[verdict], why]),
      ['Rule', 'Asks', 'Verdict', 'Why'],
    ),
    ...folded(
      'Attempts',
      attempts.map(({ attempt, outcome, reason, startedAt, endedAt }) => [
        String(attempt),
        outcome,
        reason ?? '',
        startedAt,
        endedAt ?? '',
      ]),
      ['Attempt', 'Outcome', 'Reason', 'Started at', 'Ended at'],
    ),
  )
}

const words = { passed: 'passed', failed: 'failed', not_checked: 'not checked' }

function chainText({ status, words: said, arrivedBaseUnits, burnedBaseUnits }, decimals) {
  if (arrivedBaseUnits === null) return `Chain: ${status}. ${said}`
  const [arrived, burned] = [arrivedBaseUnits, burnedBaseUnits].map((amount) => tokensText(amount, decimals))
  return `Chain: ${status}. ${said} ${arrived} tokens arrived, ${burned} were burned.`
}

function folded(title, rows, head) {
  if (rows.length === 0) return []
  const details = document.createElement('details')
  const scroll = document.createElement('div')
  scroll.className = 'scroll'
  scroll.tabIndex = 0
  scroll.setAttribute('role', 'region')
  scroll.setAttribute('aria-label', title)
  const table = document.createElement('table')
  const line = table.createTHead().insertRow()
  for (const name of head) {
    const cell = element('th', name)
    cell.scope = 'col'
    line.append(cell)
  }
  const body = table.createTBody()
  for (const cells of rows) {
    const row = body.insertRow()
    for (const text of cells) row.append(element('td', text))
  }
  scroll.append(table)
  details.append(element('summary', title), scroll)
  return [details]
}

/** The refunds of the payment, each with its decisions. */
export function showRefunds(section, refunds, decimals) {
  const lines = refunds.map(({ cause, state, owedBaseUnits, paidBaseUnits, decisions, payouts }) => {
    const amount = `${tokensText(owedBaseUnits, decimals)} tokens, ${cause}: ${state.replace('_', ' ')}`
    const paid =
      paidBaseUnits === '0'
        ? ''
        : `; ${tokensText(paidBaseUnits, decimals)} paid by ${payouts.map(({ reference }) => reference).join(', ')}`
    const decided = decisions.map(
      ({ kind, by, role, reason, decidedAt }) => `; ${kind} by ${by} (${role}) at ${decidedAt}: ${reason}`,
    )
    return element('li', `${amount}${paid}${decided.join('')}`)
  })
  const list = document.createElement('ul')
  list.append(...lines)
  section.replaceChildren(...(lines.length === 0 ? [] : [element('h3', 'Refunds'), list]))
}

function element(tag, text, className = '') {
  const created = document.createElement(tag)
  created.textContent = text
  if (className !== '') created.className = className
  return created
}
