/* Shows what was bought: pictures as pictures, documents page by page with a link, and the rest as JSON. */

import { showDocument } from './document.js'

const textMax = 300
const dataUriMax = 40

export function showData(place, data) {
  const found = [...stringsOf(data)]
  const pictures = found.filter((text) => /^data:image\/|\/artifacts\/[^/]+\.png$/.test(text)).map(pictureOf)
  const documents = found.filter((text) => /\/artifacts\/[^/]+\.pdf$/.test(text))
  const json = document.createElement('pre')
  json.tabIndex = 0
  json.textContent = typeof data === 'string' ? data : JSON.stringify(data, shorten, 2)
  place.replaceChildren(...pictures, ...documents.flatMap((address) => [linkOf(address), pagesOf(address)]), json)
}

/** The pages follow when they are drawn. The link works without them. */
function pagesOf(address) {
  const pages = document.createElement('div')
  pages.className = 'pages'
  pages.setAttribute('aria-busy', 'true')
  showDocument(pages, address)
    .catch((error) => pages.replaceChildren(`The document cannot be shown here: ${error.message}.`))
    .finally(() => pages.setAttribute('aria-busy', 'false'))
  return pages
}

function* stringsOf(value) {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) yield* stringsOf(inner)
}

function shorten(_name, value) {
  if (typeof value !== 'string') return value
  const max = value.startsWith('data:') ? dataUriMax : textMax
  return value.length > max ? `${value.slice(0, max)}…` : value
}

function pictureOf(source) {
  const picture = new Image()
  picture.src = source
  picture.alt = 'The picture that you bought'
  return picture
}

function linkOf(address) {
  const link = document.createElement('a')
  link.href = address
  link.textContent = 'Save the document'
  link.className = 'button'
  return link
}

export function showReceipt(place, receipt, links) {
  const rows = [
    ['Payment', receipt.signature],
    ['Wallet', receipt.wallet],
    ['Price', `${receipt.requiredTokens} tokens`],
    ['Position in the ledger', `${receipt.ledger.position}`],
    ['Issued', receipt.issuedAt],
  ]
  place.replaceChildren(...rows.flatMap(([name, value]) => [element('dt', name), element('dd', value, 'mono')]))
  if (links.inclusion === undefined) return
  const proof = element('a', 'proof that the ledger has it')
  proof.href = links.inclusion
  const cell = element('dd', '')
  cell.append(proof)
  place.append(element('dt', 'Ledger'), cell)
}

export function showChecks(place, checks) {
  place.replaceChildren(
    ...checks.map(({ label, holds }) => element('li', `${holds ? '✓' : '✗'} ${label}`, holds ? 'holds' : 'broken')),
  )
}

function element(name, text, className = '') {
  const node = document.createElement(name)
  node.textContent = text
  node.className = className
  return node
}
