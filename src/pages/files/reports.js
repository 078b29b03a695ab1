import { countText } from './amounts.js'
import { read, saveCsv } from './api.js'
import { readAddress, writeAddress } from './address.js'
import { columnsShown, showTable } from './tables.js'

/** Shows one report at a time, in pages, with its filters. */
export function createReportBrowser(section, { range, onPayment, onFault }) {
  const one = (selector) => section.querySelector(selector)
  const filters = createReportFilters(section, range)
  const { report, columns } = filters.fields
  const { parameters } = filters
  let visible = []
  /** Cursors of the pages before this one; the first has none. */
  let trail = [undefined]
  let next
  /** Answers may come in another order than they were asked for: only the newest is shown. */
  let asked = 0

  async function show() {
    for (const field of section.querySelectorAll('[data-for]'))
      field.hidden = !field.dataset.for.split(' ').includes(report.value)
    section.setAttribute('aria-busy', 'true')
    const turn = ++asked
    try {
      const paging = report.value === 'trial-balance' ? {} : { limit: '50', cursor: trail.at(-1) }
      const page = await read(report.value, { ...parameters(), ...paging })
      if (turn !== asked) return
      next = page.next ?? undefined
      visible = columnsShown(report.value, page.columns, columns.value === 'all')
      showTable(one('table'), { ...page, columns: visible, onPayment })
      one('caption').textContent = captionOf(report, range(), page)
      one('.empty').hidden = page.rows.length > 0
      one('.empty').textContent = emptyText(parameters())
      one('.previous').disabled = trail.length === 1
      one('.next').disabled = next === undefined
      one('.page').textContent = `Page ${trail.length}`
      one('.paging').hidden = trail.length === 1 && next === undefined
    } catch (error) {
      if (turn === asked) onFault(error)
    } finally {
      if (turn === asked) section.removeAttribute('aria-busy')
    }
  }

  const startOver = () => {
    trail = [undefined]
    return show()
  }
  one('form').addEventListener('submit', (event) => event.preventDefault())
  one('form').addEventListener('change', () => {
    filters.keepAddress()
    void startOver()
  })
  one('.next').addEventListener('click', () => {
    trail.push(next)
    void show()
  })
  one('.previous').addEventListener('click', () => {
    trail.pop()
    void show()
  })
  one('.csv').addEventListener('click', () =>
    saveCsv(report.value, { ...parameters(), columns: visible.join(',') }).catch(onFault),
  )
  filters.restore()
  return { show: startOver, restore: filters.restore }
}

const names = ['report', 'by', 'state', 'refund', 'endpoint', 'wallet', 'owedTo', 'columns']
const standards = { report: 'payments', by: 'day', owedTo: 'all', columns: 'fitting' }

/** Fields of the form, which are part of the address of the page. */
function createReportFilters(section, range) {
  const fields = Object.fromEntries(names.map((name) => [name, section.querySelector(`[name=${name}]`)]))
  const valueOf = (name) => fields[name].value.trim()
  const parameters = () => {
    const filters = {
      burns: { ...range(), by: valueOf('by') },
      distributions: { ...range(), by: valueOf('by') },
      payments: { ...range(), state: valueOf('state'), endpoint: valueOf('endpoint'), wallet: valueOf('wallet') },
      refunds: { ...range(), refund: valueOf('refund'), wallet: valueOf('wallet') },
      payouts: { ...range(), wallet: valueOf('wallet') },
      liabilities: { owedTo: valueOf('owedTo') },
      'trial-balance': range(),
    }
    return filters[valueOf('report')]
  }
  return {
    fields,
    parameters,
    /** Fields that the report does not use are not part of the address. */
    keepAddress() {
      const used = { ...parameters(), report: true, columns: true }
      const isWritten = (name) => name in used && valueOf(name) !== standards[name]
      writeAddress(Object.fromEntries(names.map((name) => [name, isWritten(name) ? valueOf(name) : ''])))
    },
    /** Fills the form from the address. */
    restore() {
      const address = readAddress()
      for (const name of names) {
        const field = fields[name]
        field.value = address[name] ?? standards[name] ?? ''
        // A value that the form does not have would leave it empty.
        if (field.value === '' && field.options !== undefined) field.selectedIndex = 0
      }
    },
  }
}

function emptyText({ wallet = '' }) {
  return wallet === ''
    ? 'Nothing in this range.'
    : 'Nothing in this range. Compare the wallet letter by letter: upper and lower case differ.'
}

function captionOf(report, { from, to, month, quarter }, { ledger, totals }) {
  const period = month || quarter || `${from || 'the beginning'} to ${to || 'today'}`
  const days = report.value === 'liabilities' ? 'now' : `${period}, UTC days`
  const count =
    report.value === 'payments' && totals !== null
      ? `${countText(totals.payments)} ${totals.payments === 1 ? 'payment' : 'payments'}, without reversed ones`
      : undefined
  return `${count ?? report.selectedOptions[0].textContent}, ${days}. In tokens, at position ${ledger.position} of the ledger.`
}
