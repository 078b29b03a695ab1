import { tokensText } from './amounts.js'
import { decide, read } from './api.js'
import { decisionsFor } from './decisions.js'
import { showExplanation, showRefunds } from './explanation.js'
import { kindMeaning, stateMeaning, stateWord } from './words.js'

/** One payment, payout or burn: its diagnosis, events with their entries, the signed transaction, and its open debts. */
export async function openPayment(dialog, subject) {
  const found = await read(`explain/${encodeURIComponent(subject)}`)
  const { reference } = found.explanation
  showExplanation(dialog.querySelector('.explanation'), found)
  const detail = found.explanation.ledger === null ? undefined : await read(`payments/${encodeURIComponent(reference)}`)
  showDetail(dialog, detail ?? { payment: nothing(subject), links: found.links ?? noLinks, decimals: found.decimals })
  offerDecisions(dialog, found.explanation, detail?.payment)
  if (!dialog.open) dialog.showModal()
  dialog.querySelector('h2').focus()
  return reference ?? subject
}

const noLinks = { network: '', explorer: null, checkpoint: null, inclusion: null }

/** A payment that the ledger does not have. */
function nothing(subject) {
  const lists = { owedNow: [], payouts: [], refunds: [], events: [] }
  return { reference: subject, wallet: '', endpoint: '', state: '', kind: 'payment', transactionBase64: null, ...lists }
}

function showDetail(dialog, { payment, links, decimals }) {
  const facts = [
    ['Reference', payment.reference],
    ['Wallet', payment.wallet],
    ['Endpoint', payment.endpoint],
    ['State', stateWord(payment.state)],
    ['Network', links.network],
    ...payment.owedNow.map(({ account, owedBaseUnits }) => [
      'Owed by now',
      `${tokensText(owedBaseUnits, decimals)} on ${account}`,
    ]),
    ...payment.payouts.map(({ reference, account, paidBaseUnits, paidAt }) => [
      'Paid back',
      `${tokensText(paidBaseUnits, decimals)} of ${account}, ${paidAt.slice(0, 10)}, by ${reference}`,
    ]),
  ]
  dialog.querySelector('h2').textContent = titles[payment.kind] ?? 'One payment'
  // A payout has no wallet, and tokens without a request have no endpoint.
  dialog.querySelector('.facts').replaceChildren(...factsOf(facts.filter(([, text]) => text !== '')))
  dialog.querySelector('.meaning').textContent = stateMeaning(payment.state)
  showRefunds(dialog.querySelector('.refunds'), payment.refunds, decimals)
  dialog.querySelector('.links').replaceChildren(...linksOf(links))
  dialog.querySelector('.events').replaceChildren(...payment.events.map((event) => eventOf(event, links, decimals)))
  const transaction = dialog.querySelector('.transaction')
  transaction.hidden = payment.transactionBase64 === null
  transaction.querySelector('pre').textContent = payment.transactionBase64 ?? ''
}

function offerDecisions(dialog, { reference, diagnosis }, payment) {
  const form = dialog.querySelector('.decision')
  const actions = decisionsFor(diagnosis, payment?.refunds ?? [])
  form.hidden = actions.length === 0
  form.elements.action.replaceChildren(...actions.map(([action, text]) => new Option(text, action)))
  form.elements.reason.value = ''
  // Outside of the form, which is hidden when nothing is left to decide.
  const outcome = dialog.querySelector('.outcome')
  outcome.textContent = ''
  const button = form.querySelector('button')
  shown.abort()
  shown = new AbortController()
  form.addEventListener(
    'submit',
    (event) => {
      event.preventDefault()
      const [action, reason] = [form.elements.action.value, form.elements.reason.value]
      // A second click would show its refusal over the success of the first.
      button.disabled = true
      decide({ action, payment: reference, reason })
        .then(async ({ position }) => {
          await openPayment(dialog, reference)
          outcome.textContent = `Recorded at position ${position}.`
        })
        .catch((error) => (outcome.textContent = error.message))
        .finally(() => (button.disabled = false))
    },
    { signal: shown.signal },
  )
}

// Ends the listener of the payment that was shown before.
let shown = new AbortController()

const titles = { payout: 'One payout', burn: 'One burn' }

function factsOf(facts) {
  return facts.flatMap(([name, text]) => [element('dt', name), element('dd', text, 'mono')])
}

function linksOf({ explorer, checkpoint }) {
  const links = checkpoint === null ? [] : [anchor(checkpoint, 'Signed checkpoint of the ledger')]
  if (explorer !== null) links.unshift(anchor(explorer, 'Transaction in the Solana explorer'))
  return links.map((link) => {
    const item = document.createElement('li')
    item.append(link)
    return item
  })
}

function eventOf(event, { inclusion }, decimals) {
  const item = document.createElement('li')
  const title = element('h3', `${event.position}. ${event.kind}`)
  const when = element('p', `${event.effectiveAt} (recorded ${event.recordedAt})`, 'muted')
  item.append(title, when, element('p', kindMeaning(event.kind)))
  if (event.entries.length > 0) item.append(entriesOf(event, decimals))
  const body = document.createElement('details')
  const leaf = element('p', `leaf ${event.leafHash} `, 'mono')
  if (inclusion !== null) leaf.append(anchor(`${inclusion}${event.position}`, 'inclusion proof'))
  body.append(element('summary', 'As it was hashed'), leaf, pre(JSON.stringify(event.body, null, 2)))
  item.append(body)
  return item
}

function entriesOf({ entries, kind }, decimals) {
  const table = document.createElement('table')
  table.createCaption().textContent = `Entries of ${kind}`
  const head = table.createTHead().insertRow()
  for (const name of ['Account', 'Debit', 'Credit']) {
    const cell = element('th', name, name === 'Account' ? '' : 'number')
    cell.scope = 'col'
    head.append(cell)
  }
  const body = table.createTBody()
  for (const { account, amountBaseUnits } of entries) {
    const line = body.insertRow()
    const name = element('th', account)
    name.scope = 'row'
    const isCredit = amountBaseUnits.startsWith('-')
    const amount = tokensText(amountBaseUnits.replace('-', ''), decimals)
    line.append(name, element('td', isCredit ? '' : amount, 'number'), element('td', isCredit ? amount : '', 'number'))
  }
  return table
}

function pre(text) {
  const block = element('pre', text)
  block.tabIndex = 0
  return block
}

function anchor(href, text) {
  const link = element('a', text)
  link.href = href
  link.rel = 'noreferrer noopener'
  link.target = '_blank'
  return link
}

function element(tag, text, className = '') {
  const created = document.createElement(tag)
  created.textContent = text
  if (className !== '') created.className = className
  return created
}
