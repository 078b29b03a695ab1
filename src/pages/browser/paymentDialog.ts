import type { Diagnosis, Explanation } from '../../diagnosis/explanation.ts'
import { tokensText } from './amounts.ts'
import type { LedgerEvent, Links, Mint, Payment, Refund } from './answers.ts'
import { decide, read, wordsOf } from './api.ts'
import { element, factsOf, fillTable, one, oneOf } from './element.ts'
import { showExplanation, showRefunds } from './explanation.ts'
import { stateMeaning, stateWord } from './words.ts'

interface Explained {
  readonly explanation: Explanation
  readonly links: Links | null
  readonly decimals: number
}

interface Detail {
  readonly payment: Payment
  readonly links: Links
  readonly decimals: number
  /** All mints are needed, because the burn of a sale in dollars is an entry in the token. */
  readonly mints: readonly Mint[]
}

/**
 * Only the answers to the newest question are shown, because a decision must be about the payment that its reader
 * chose.
 */
let asked = 0

/**
 * Opens the dialog of a payment, a payout or a burn. Returns the reference in the ledger, or the subject if the ledger
 * has none. Undefined if another payment was opened meanwhile.
 */
export async function openPayment(dialog: HTMLDialogElement, subject: string): Promise<string | undefined> {
  const turn = ++asked
  const found = await read<Explained>(`explain/${encodeURIComponent(subject)}`)
  const { explanation, links, decimals } = found
  const { reference, ledger } = explanation
  const detail =
    reference === null || ledger === null ? undefined : await read<Detail>(`payments/${encodeURIComponent(reference)}`)
  if (turn !== asked) return undefined
  showExplanation(one('.explanation', dialog), explanation, detail?.decimals ?? decimals)
  showDetail(dialog, detail ?? { payment: nothing(subject), links: links ?? noLinks, decimals, mints: [] })
  offerDecisions(dialog, explanation, detail?.payment.refunds ?? [])
  if (!dialog.open) dialog.showModal()
  one('h2', dialog).focus()
  return reference ?? subject
}

const noLinks: Links = { network: '', explorer: null, checkpoint: null, inclusion: null }

function nothing(subject: string): Payment {
  const lists = { mint: '', owedNow: [], payouts: [], refunds: [], events: [] }
  return { reference: subject, wallet: '', endpoint: '', state: '', kind: 'payment', transactionBase64: null, ...lists }
}

function showDetail(dialog: HTMLDialogElement, { payment, links, decimals, mints }: Detail): void {
  const tokens = (baseUnits: string) => tokensText(baseUnits, decimals)
  const facts = [
    ['Reference', payment.reference],
    ['Wallet', payment.wallet],
    ['Endpoint', payment.endpoint],
    ['State', stateWord(payment.state)],
    ['Network', links.network],
    ...payment.owedNow.map(({ account, owedBaseUnits }) => ['Owed by now', `${tokens(owedBaseUnits)} on ${account}`]),
    ...payment.payouts.map(({ reference, account, paidBaseUnits, paidAt }) => [
      'Paid back',
      `${tokens(paidBaseUnits)} of ${account}, ${paidAt.slice(0, 10)}, by ${reference}`,
    ]),
  ].map(([name = '', text = '']) => [name, text] as const)
  one('h2', dialog).textContent = titles[payment.kind] ?? 'One payment'
  // A payout has no wallet, and a transfer without a request has no endpoint.
  one('.facts', dialog).replaceChildren(...factsOf(facts.filter(([, text]) => text !== '')))
  one('.meaning', dialog).textContent = stateMeaning(payment.state)
  showRefunds(one('.refunds', dialog), payment.refunds, decimals)
  one('.links', dialog).replaceChildren(...linksOf(links))
  one('.events', dialog).replaceChildren(...payment.events.map((event) => eventOf(event, links, mints)))
  const transaction = one('.transaction', dialog)
  transaction.hidden = payment.transactionBase64 === null
  one('pre', transaction).textContent = payment.transactionBase64
}

const titles: Readonly<Record<string, string>> = { payout: 'One payout', burn: 'One burn' }

/**
 * Returns the decisions that the state of a payment permits. The service checks a decision again with the role of the
 * token.
 */
export function decisionsFor(
  { code, booking }: Pick<Diagnosis, 'code' | 'booking'>,
  refunds: readonly Pick<Refund, 'cause' | 'state'>[],
): readonly (readonly [action: string, words: string])[] {
  const isDue = refunds.some(({ state }) => state === 'due')
  // A delivered answer can be refunded by hand only once.
  const mayGrant = code === 'delivered' && !refunds.some(({ cause }) => cause === 'granted')
  return [
    ...(booking === null ? [] : [['record', booking.words] as const]),
    ...(isDue ? [['approve', 'Approve the debts of this payment.'] as const] : []),
    ...(mayGrant ? [['grant', 'Refund the whole price of this answer.'] as const] : []),
  ]
}

function decisionForm(dialog: HTMLDialogElement) {
  const form = oneOf(HTMLFormElement, '.decision', dialog)
  return {
    form,
    action: oneOf(HTMLSelectElement, '[name=action]', form),
    reason: oneOf(HTMLInputElement, '[name=reason]', form),
    button: oneOf(HTMLButtonElement, 'button', form),
    // The outcome is outside of the form, because the form is hidden when no further decision is possible.
    outcome: one('.outcome', dialog),
  }
}

function offerDecisions(
  dialog: HTMLDialogElement,
  { reference, diagnosis, ledger }: Explanation,
  refunds: readonly Refund[],
): void {
  const { form, action, reason, outcome } = decisionForm(dialog)
  // No decision is possible about one request of a tab, because the rest of a tab is returned when the tab closes.
  const actions = ledger?.kind === 'tab_request' ? [] : decisionsFor(diagnosis, refunds)
  form.hidden = actions.length === 0
  form.dataset['payment'] = reference ?? ''
  action.replaceChildren(...actions.map(([name, words]) => element('option', { value: name }, words)))
  reason.value = ''
  outcome.textContent = ''
}

/** Sends the decisions of the form. Shows the updated payment after each decision. */
export function listenForDecisions(dialog: HTMLDialogElement): void {
  const { form, action, reason, button, outcome } = decisionForm(dialog)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const payment = form.dataset['payment'] ?? ''
    // The error of a second click would replace the message of success.
    button.disabled = true
    // The reader may open another payment meanwhile, which must not seem to be the decided one.
    const say = (words: string) => {
      if (form.dataset['payment'] === payment) outcome.textContent = words
    }
    decide({ action: action.value, payment, reason: reason.value })
      .then(async ({ position }) => {
        if (dialog.open && form.dataset['payment'] === payment) await openPayment(dialog, payment)
        say(`Recorded at position ${position}.`)
      })
      .catch((error: unknown) => say(wordsOf(error)))
      .finally(() => (button.disabled = false))
  })
}

function linksOf({ explorer, checkpoint }: Links): readonly HTMLElement[] {
  const links = [
    [explorer, 'Transaction in the Solana explorer'],
    [checkpoint, 'Signed checkpoint of the ledger'],
  ] as const
  return links.flatMap(([href, text]) => (href === null ? [] : [element('li', {}, linkTo(href, text))]))
}

function eventOf(event: LedgerEvent, { inclusion }: Links, mints: readonly Mint[]): HTMLElement {
  const { position, kind, effectiveAt, recordedAt, leafHash, body } = event
  const proof = inclusion === null ? [] : [linkTo(`${inclusion}${position}`, 'inclusion proof')]
  return element(
    'li',
    {},
    element('h3', {}, `${position}. ${kind}`),
    element('p', { className: 'muted' }, `${effectiveAt} (recorded ${recordedAt})`),
    ...(event.entries.length === 0 ? [] : [entriesOf(event, mints)]),
    element(
      'details',
      {},
      element('summary', {}, 'As it was hashed'),
      element('p', { className: 'mono' }, `leaf ${leafHash} `, ...proof),
      element('pre', { tabIndex: 0 }, JSON.stringify(body, null, 2)),
    ),
  )
}

function entriesOf({ entries, kind }: LedgerEvent, mints: readonly Mint[]): HTMLElement {
  const table = element('table', {}, element('caption', {}, `Entries of ${kind}`))
  const columns = [{ name: 'Account' }, { name: 'Debit', isNumber: true }, { name: 'Credit', isNumber: true }]
  const rows = entries.map(({ account, mint, amountBaseUnits }) => {
    const { decimals, name } = mints.find((known) => known.mint === mint) ?? { decimals: 0, name: '' }
    const amount = `${tokensText(amountBaseUnits.replace('-', ''), decimals)}${mints.length > 1 ? ` ${name}` : ''}`
    return amountBaseUnits.startsWith('-') ? [account, '', amount] : [account, amount, '']
  })
  fillTable(table, { columns, rows })
  return table
}

/** Creates a link. The linked site must not learn the address of this page, which contains the payment. */
function linkTo(href: string, text: string): HTMLElement {
  return element('a', { href, rel: 'noreferrer noopener', target: '_blank' }, text)
}
