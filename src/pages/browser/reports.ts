import { readPageAddress, writePageAddress } from './pageAddress.ts'
import { countText } from './amounts.ts'
import type { ReportPage } from './answers.ts'
import { type Parameters, read, saveReport } from './api.ts'
import { all, fillTable, one, oneOf } from './element.ts'
import { columnsShown, tableContent } from './tables.ts'

export interface ReportDeps {
  readonly range: () => Parameters
  readonly onPayment: (reference: string) => void
  readonly onFault: (error: unknown) => void
}

export function createReportBrowser(section: HTMLElement, { range, onPayment, onFault }: ReportDeps) {
  const filters = createReportFilters(section, range)
  const { valueOf, accepts, parameters } = filters
  const previous = oneOf(HTMLButtonElement, '.previous', section)
  const following = oneOf(HTMLButtonElement, '.next', section)
  let visible: readonly string[] = []
  /** Cursors of the pages up to the current page. The first page has no cursor. */
  let trail: (string | undefined)[] = [undefined]
  let next: string | undefined
  /** Answers to earlier requests are dropped, because they may arrive later than the answer to the newest. */
  let asked = 0

  /** Shows a page. `wanted` becomes the trail with the answer, so that a failed request skips no page. */
  async function show(wanted: typeof trail): Promise<void> {
    const report = valueOf('report')
    for (const field of all('[data-filter]', section)) field.hidden = !accepts(field.dataset['filter'] ?? '')
    section.setAttribute('aria-busy', 'true')
    const turn = ++asked
    try {
      const paging = accepts('limit') ? { limit: '50', cursor: wanted.at(-1) } : {}
      const page = await read<ReportPage>(report, { ...parameters(), ...paging })
      if (turn !== asked) return
      trail = wanted
      showPage(report, page)
    } catch (error) {
      if (turn === asked) onFault(error)
    } finally {
      if (turn === asked) section.removeAttribute('aria-busy')
    }
  }

  function showPage(report: string, page: ReportPage): void {
    next = page.next ?? undefined
    visible = columnsShown(report, page.columns, valueOf('columns') === 'all')
    fillTable(oneOf(HTMLTableElement, 'table', section), tableContent({ ...page, columns: visible, onPayment }))
    one('caption', section).textContent = captionOf(filters.reportName(), accepts('from') ? range() : undefined, page)
    const empty = one('.empty', section)
    empty.hidden = page.rows.length > 0
    empty.textContent = emptyText(parameters())
    previous.disabled = trail.length === 1
    following.disabled = next === undefined
    one('.page', section).textContent = `Page ${trail.length}`
    one('.paging', section).hidden = trail.length === 1 && next === undefined
  }

  const startOver = () => {
    // Start again at the first page, because a cursor is valid only for the filters of its page.
    previous.disabled = following.disabled = true
    return show([undefined])
  }
  one('form', section).addEventListener('submit', (event) => event.preventDefault())
  one('form', section).addEventListener('change', () => {
    filters.keepAddress()
    void startOver()
  })
  following.addEventListener('click', () => void show([...trail, next]))
  previous.addEventListener('click', () => void show(trail.slice(0, -1)))
  one('.csv', section).addEventListener('click', () => {
    const report = valueOf('report')
    const given = { ...parameters(), columns: visible.join(','), format: 'csv' }
    saveReport(`tollbook-${report}.csv`, report, given).catch(onFault)
  })
  one('.closing', section).addEventListener('click', () => {
    const { month = '' } = range()
    saveReport(`tollbook-closing-${month}.json`, 'closing', { month }).catch(onFault)
  })
  filters.restore()
  return { show: startOver, restore: () => filters.restore() }
}

const names = ['report', 'by', 'state', 'refund', 'endpoint', 'wallet', 'owedTo', 'tab', 'columns'] as const
type Name = (typeof names)[number]
/** Defaults, which the address omits. */
const standards: Partial<Record<Name, string>> = { report: 'payments', by: 'day', owedTo: 'all', columns: 'fitting' }
/** Fields of the page itself, which are not in the list of parameters of a report. */
const alwaysUsed: ReadonlySet<Name> = new Set(['report', 'columns'])

function createReportFilters(section: HTMLElement, range: () => Parameters) {
  const fieldOf = (name: Name) => {
    const field = one(`[name=${name}]`, section)
    return field instanceof HTMLSelectElement ? field : oneOf(HTMLInputElement, `[name=${name}]`, section)
  }
  const valueOf = (name: Name) => fieldOf(name).value.trim()
  const option = () => {
    const { options, value } = oneOf(HTMLSelectElement, '[name=report]', section)
    return [...options].find((one) => one.value === value)
  }
  const accepts = (name: string) => option()?.dataset['accepts']?.split(' ').includes(name) === true
  return {
    valueOf,
    /**
     * True if the report has this parameter. The service writes the parameters of each report into the page, which
     * saves a request before anything is shown.
     */
    accepts,
    reportName: () => option()?.textContent ?? '',
    parameters(): Parameters {
      const filters = Object.fromEntries(names.filter(accepts).map((name) => [name, valueOf(name)]))
      return accepts('from') ? { ...range(), ...filters } : filters
    },
    /** Writes the filters into the address. Fields that the report does not use are omitted. */
    keepAddress() {
      const isWritten = (name: Name) => (alwaysUsed.has(name) || accepts(name)) && valueOf(name) !== standards[name]
      writePageAddress(Object.fromEntries(names.map((name) => [name, isWritten(name) ? valueOf(name) : ''])))
    },
    restore() {
      const address = readPageAddress()
      for (const name of names) {
        const field = fieldOf(name)
        field.value = address[name] ?? standards[name] ?? ''
        // The field would be empty if the address contains an unknown value.
        if (field.value === '' && field instanceof HTMLSelectElement) field.selectedIndex = 0
      }
    },
  }
}

/**
 * Returns the text for an empty report. Addresses are case-sensitive, so the report of a wallet in the wrong case is
 * empty.
 */
function emptyText({ wallet = '' }: Parameters): string {
  return wallet === ''
    ? 'Nothing in this range.'
    : 'Nothing in this range. Compare the wallet letter by letter: upper and lower case differ.'
}

/** Returns the caption of the table. Without a range, the report is about the present. */
function captionOf(name: string, range: Parameters | undefined, { ledger, totals }: ReportPage): string {
  const { from = '', to = '', month = '', quarter = '' } = range ?? {}
  const period = month || quarter || `${from || 'the beginning'} to ${to || 'today'}`
  const days = range === undefined ? 'now' : `${period}, UTC days`
  const payments = name === 'Payments' ? totals?.['payments'] : undefined
  const count =
    typeof payments === 'number'
      ? `${countText(payments)} ${payments === 1 ? 'payment' : 'payments'}, without reversed ones`
      : name
  return `${count}, ${days}. In tokens, at position ${ledger.position} of the ledger.`
}
