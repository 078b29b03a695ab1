/* Pictures are shown as pictures, documents page by page with a link, and all other content as JSON. */

import type { ReceiptVerdict, VerifiedReceipt } from '@tollbook/client/verifyReceipt'
import { wordsOf } from './api.ts'
import { showDocument } from './document.ts'
import { type Content, element, factsOf } from './element.ts'

const textMax = 300
/** A data URI is cut early, because its picture or file is offered above the text. */
const dataUriMax = 40

export function showData(place: HTMLElement, data: unknown): void {
  const found = [...stringsOf(data)]
  const alt = 'The picture that you bought'
  const pictures = found
    .filter((text) => text.startsWith('data:image/') || isArtifact(text, 'png'))
    .map((src) => element('img', { src, alt }))
  const documents = found.filter((text) => isArtifact(text, 'pdf'))
  const isFile = typeof data === 'string' && data.startsWith('data:')
  const text = typeof data === 'string' && !isFile ? data : JSON.stringify(data, shorten, 2)
  const save = isFile ? [element('a', { href: data, className: 'button', download: '' }, 'Save the answer')] : []
  place.replaceChildren(...pictures, ...documents.flatMap(documentOf), ...save, element('pre', { tabIndex: 0 }, text))
}

/**
 * True for the address of a purchased file. Texts of the answer may be those of a stranger's page, so an address of
 * another site is not one.
 */
function isArtifact(text: string, ending: 'png' | 'pdf'): boolean {
  return text.startsWith(`${location.origin}/`) && new RegExp(`/artifacts/[^/]+\\.${ending}$`).test(text)
}

/**
 * Returns a link to a document, and its pages. The pages appear when they are drawn, and the link works even if drawing
 * fails.
 */
function documentOf(href: string): readonly Content[] {
  const pages = element('div', { className: 'pages' })
  pages.setAttribute('aria-busy', 'true')
  showDocument(pages, href)
    .catch((error: unknown) => pages.replaceChildren(`The document cannot be shown here: ${wordsOf(error)}.`))
    .finally(() => pages.setAttribute('aria-busy', 'false'))
  return [element('a', { href, className: 'button' }, 'Save the document'), pages]
}

function* stringsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) yield* stringsOf(inner)
}

function shorten(_name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  const max = value.startsWith('data:') ? dataUriMax : textMax
  return value.length > max ? `${value.slice(0, max)}…` : value
}

/** Shows the receipt. `proof` is the address of the inclusion proof. Undefined: no link is shown. */
export function showReceipt(place: HTMLElement, receipt: VerifiedReceipt, proof: string | undefined): void {
  const ledger: readonly (readonly [string, Content])[] =
    proof === undefined ? [] : [['Ledger', element('a', { href: proof }, 'proof that the ledger has it')]]
  place.replaceChildren(
    ...factsOf([
      ['Payment', receipt.signature],
      ['Wallet', receipt.wallet],
      ['Price', `${receipt.requiredTokens} tokens`],
      ['Position in the ledger', String(receipt.ledger.position)],
      ['Issued', receipt.issuedAt],
      ...ledger,
    ]),
  )
}

/**
 * Shows the result of the verification. An invalid receipt has only the first problem, because the verifier stops
 * there.
 */
export function showVerdict(place: HTMLElement, verdict: ReceiptVerdict): void {
  const checks = verdict.valid
    ? [
        'Signed with a published key of the service',
        'It names your wallet and what you bought',
        verdict.receipt.burnOwed === undefined
          ? `${verdict.receipt.burned} base units were burned`
          : 'The burn is owed by the service',
      ]
    : [verdict.message]
  const [sign, className] = verdict.valid ? ['✓', 'holds'] : ['✗', 'broken']
  place.replaceChildren(...checks.map((check) => element('li', { className }, `${sign} ${check}`)))
}
