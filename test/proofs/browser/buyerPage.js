/*
 * A page of another site: it finds a wallet of the browser, asks for the price, pays with
 * @tollbook/client, verifies the receipt, and shows the document that it has bought.
 */

import { createPayingFetch, standardWallet, verifyInclusion, verifyReceipt } from '@tollbook/client'
import { getDocument } from 'unpdf/pdfjs'

const one = (selector) => document.querySelector(selector)
const { baseUrl, rpcUrl, mint, paymentWallet, path, order } = JSON.parse(one('#facts').textContent)
const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(order) }

/** The first wallet of the Wallet Standard that this browser has. */
function findWallet() {
  const wallets = []
  const api = { register: (...found) => void wallets.push(...found) }
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }))
  return wallets[0]
}

async function connect() {
  const wallet = findWallet()
  const { accounts } = await wallet.features['standard:connect'].connect()
  return standardWallet({ wallet, account: accounts[0], chain: 'solana:localnet' })
}

async function showPrice() {
  const { address } = await connect()
  const answer = await fetch(baseUrl + path, {
    ...request,
    headers: { ...request.headers, 'x-wallet-address': address },
  })
  const { pricing } = await answer.json()
  one('#price').textContent = `${answer.status}: ${pricing.requiredTokens} tokens`
  one('#buy').disabled = false
}

async function buy() {
  const payingFetch = createPayingFetch({
    wallet: await connect(),
    rpcUrl,
    expectedMint: mint,
    expectedPaymentWallet: paymentWallet,
    spendingLimit: { perRequest: { usd: '0.10' }, total: { usd: '0.10' } },
    onEvent: ({ kind }) => void (one('#steps').textContent += `${kind} `),
  })
  const response = await payingFetch(baseUrl + path, request)
  const { data, receipt, inclusionProof } = await response.json()
  await showChecks(receipt, inclusionProof)
  await showDocument(data.pdfUrl)
  one('#status').textContent = `bought with request ${response.headers.get('x-request-id')}`
}

async function showChecks(receipt, inclusionProof) {
  const keys = await (await fetch(`${baseUrl}/.well-known/jwks.json`)).json()
  const verdict = await verifyReceipt({ receipt, keys, expected: { endpoint: path } })
  one('#receipt').textContent = verdict.valid ? `verified ${receipt.signature}` : verdict.message
  const proof = await fetchSealed(baseUrl + inclusionProof)
  const included = await verifyInclusion({ receipt, proof, keys, expectedOrigin: `tollbook/${paymentWallet}` })
  one('#ledger').textContent = included.valid ? `event ${receipt.ledger.position} of the ledger` : included.message
}

const pauseMs = 500
const patience = 20

/** The ledger is sealed once a second. */
async function fetchSealed(address) {
  for (let attempt = 1; attempt <= patience; attempt++) {
    const answer = await fetch(address)
    if (answer.ok) return answer.json()
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  throw new Error('the ledger was not sealed')
}

async function showDocument(address) {
  const data = new Uint8Array(await (await fetch(new URL(address, baseUrl))).arrayBuffer())
  const pdf = await getDocument({ data, isEvalSupported: false }).promise
  const page = await pdf.getPage(1)
  const viewport = page.getViewport({ scale: 1.5 })
  const canvas = one('#document')
  Object.assign(canvas, { width: viewport.width, height: viewport.height })
  await page.render({ canvas, viewport }).promise
  one('#pages').textContent = `Page 1 of ${pdf.numPages}`
}

function run(work) {
  work().catch((error) => (one('#status').textContent = `${error.name}: ${error.message}`))
}

one('#ask').addEventListener('click', () => run(showPrice))
one('#buy').addEventListener('click', () => run(buy))
