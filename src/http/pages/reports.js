import { countText } from './amounts.js'
import { read, saveCsv } from './api.js'
import { showTable } from './tables.js'

/** Shows one report at a time, in pages, with its filters. */
export function createReportBrowser(section, { range, onPayment, onFault }) {
  const one = (selector) => section.querySelector(selector)
  const [report, by, state, endpoint, wallet, owedTo] = ['report', 'by', 'state', 'endpoint', 'wallet', 'owedTo'].map(
    (name) => one(`[name=${name}]`),
  )
  /** Cursors of the pages before this one; the first has none. */
  let trail = [undefined]
  let next
  /** Answers may come in another order than they were asked for: only the newest is shown. */
  let asked = 0

  const parameters = () => {
    const filters = {
      burns: { ...range(), by: by.value },
      distributions: { ...range(), by: by.value },
      payments: { ...range(), state: state.value, endpoint: endpoint.value.trim(), wallet: wallet.value.trim() },
      payouts: { ...range(), wallet: wallet.value.trim() },
      liabilities: { owedTo: owedTo.value },
      'trial-balance': range(),
    }
    return filters[report.value]
  }

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
      showTable(one('table'), { ...page, onPayment })
      one('caption').textContent = captionOf(report, range(), page)
      one('.empty').hidden = page.rows.length > 0
      one('.previous').disabled = trail.length === 1
      one('.next').disabled = next === undefined
      one('.page').textContent = `Page ${trail.length}`
      one('.paging').hidden = trail.length === 1 && next === undefined
    } catch (error) {
      onFault(error)
    } finally {
      if (turn === asked) section.removeAttribute('aria-busy')
    }
  }

  const startOver = () => {
    trail = [undefined]
    return show()
  }
  one('form').addEventListener('submit', (event) => event.preventDefault())
  one('form').addEventListener('change', () => void startOver())
  one('.next').addEventListener('click', () => {
    trail.push(next)
    void show()
  })
  one('.previous').addEventListener('click', () => {
    trail.pop()
    void show()
  })
  one('.csv').addEventListener('click', () => saveCsv(report.value, parameters()).catch(onFault))
  return { show: startOver }
}

function captionOf(report, { from, to }, { ledger, totals }) {
  const days = report.value === 'liabilities' ? 'now' : `${from || 'the beginning'} to ${to || 'today'}, UTC days`
  const count =
    report.value === 'payments' && totals !== null
      ? `${countText(totals.payments)} payments, without reversed ones`
      : undefined
  return `${count ?? report.selectedOptions[0].textContent}, ${days}. In tokens, at position ${ledger.position} of the ledger.`
}
