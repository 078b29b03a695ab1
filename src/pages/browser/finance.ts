import { paymentKey, readPageAddress, writePageAddress } from './pageAddress.ts'
import { Forbidden, forgetToken, hasToken, keepToken, Refused, takeTokenFromFragment, wordsOf } from './api.ts'
import { all, one, oneOf } from './element.ts'
import { showCharts, showReconciliation, showSummary } from './overview.ts'
import { listenForDecisions, openPayment } from './paymentDialog.ts'
import { createPeriod } from './period.ts'
import { createReportBrowser } from './reports.ts'

/* The page contains no data: it fetches the reports with the reader's token. */

// A signature has at least 64 characters, so it does not match.
const isWallet = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

const status = one('#status')
const dialog = oneOf(HTMLDialogElement, '#payment')
listenForDecisions(dialog)
const period = createPeriod(one('#range'), () => void showRange())
const range = () => period.range()
const reports = createReportBrowser(one('#reports'), { range, onPayment: showPayment, onFault: tell })

one('#sign-in form').addEventListener('submit', (event) => {
  event.preventDefault()
  const token = oneOf(HTMLTextAreaElement, '#token')
  keepToken(token.value)
  // The token must not stay in the form.
  token.value = ''
  void show()
})
one('#sign-out').addEventListener('click', () => {
  forgetToken()
  signedOut('')
})
one('.close', dialog).addEventListener('click', () => dialog.close())
// The parameter is removed when the dialog closes, so that a reload does not open it again.
dialog.addEventListener('close', () => writePageAddress({ payment: '' }))
one('#find').addEventListener('submit', (event) => {
  event.preventDefault()
  const subject = oneOf(HTMLInputElement, '#subject').value.trim()
  if (isWallet.test(subject)) showWallet(subject)
  else showPayment(subject)
})

takeTokenFromFragment()
// A new fragment does not reload the page, so a token in it is taken here.
addEventListener('hashchange', () => {
  takeTokenFromFragment()
  if (hasToken()) void show()
})
// Back and forward do not reload the page, because `writePageAddress` created the entries of the history.
addEventListener('popstate', () => {
  period.restore()
  reports.restore()
  if (hasToken()) void show()
})
period.restore()
if (hasToken()) void show()
else signedOut('')

function showPayment(subject: string): void {
  openPayment(dialog, subject).then((reference) => {
    if (reference !== undefined) writePageAddress({ payment: paymentKey(reference) }, { isNew: true })
  }, tell)
}

function showWallet(wallet: string): void {
  // Select all days, so that no payment of the wallet is missing.
  period.showAll()
  writePageAddress({ report: 'payments', wallet, state: '', endpoint: '' })
  reports.restore()
  void showRange()
}

async function show(): Promise<void> {
  try {
    const { payment, view } = readPageAddress()
    const isWhole = await showSummary(status, reconcile).then(() => true, toleratesRole)
    for (const part of all('.whole')) part.hidden = !isWhole
    signedIn('#ledger')
    await showRange()
    if (isWhole && view === 'reconciliation') await showReconciliation()
    if (payment !== undefined && !dialog.open) showPayment(payment)
  } catch (error) {
    tell(error)
  }
}

async function showRange(): Promise<void> {
  const charts = one('.charts').hidden ? [] : showCharts(range())
  await Promise.all([...charts, reports.show()]).catch(tell)
}

function signedIn(view: string): void {
  for (const part of ['#sign-in', '#ledger']) one(part).hidden = part !== view
  one('#sign-out').hidden = false
}

function reconcile(): void {
  writePageAddress({ view: 'reconciliation' })
  showReconciliation().catch(tell)
}

/**
 * Shows a message and returns false if the role may not read sums, as with the support role. Other errors are thrown
 * again.
 */
function toleratesRole(error: unknown): boolean {
  if (!(error instanceof Forbidden)) throw error
  status.textContent = 'This token reads payments, refunds and explanations.'
  return false
}

function signedOut(why: string): void {
  signedIn('#sign-in')
  one('#sign-out').hidden = true
  status.textContent = why
}

function tell(error: unknown): void {
  if (error instanceof Refused) {
    forgetToken()
    signedOut(`Not signed in: ${error.message}.`)
  } else {
    status.textContent = `That did not work: ${wordsOf(error)}.`
  }
}
