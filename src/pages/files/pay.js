/*
 * Buys one answer: the order is checked with a quote, a wallet signs the transaction that the service has built, and the proof is
 * presented until there is an answer. The secret stays in this page, so a payment that others see on chain is useless to them.
 */

import { base64, base64Url, fromBase64, sha256 } from './encoding.js'
import { fillFrom, readOrder, requestOf } from './form.js'
import { verifyReceipt } from './receipt.js'
import { showChecks, showData, showReceipt } from './result.js'
import { createTestWallet, listenForWallets } from './wallets.js'

const attemptsMax = 20
const pollMs = 3_000
const pollsMax = 100
const one = (selector) => document.querySelector(selector)
const form = one('#order')
const { path, method, root, chain, symbol, someWallet } = one('main').dataset
const at = (address) => new URL(`${root}${address.slice(1)}`, location.href).href
const storageKey = `tollbook payment ${path}`

fillFrom(form, location.search)
await showTokens()
one('#stored').hidden = localStorage.getItem(storageKey) === null
one('#resume').addEventListener('click', () => void run(() => deliver(JSON.parse(localStorage.getItem(storageKey)))))
listenForWallets(chain, addWallet)
const testButton = one('#test-wallet')
if (testButton !== null) {
  const wallet = createTestWallet(fund)
  one('#no-wallet').hidden = true
  testButton.addEventListener('click', () => void run(() => payWith(wallet)))
}
one('#phone').addEventListener('toggle', ({ target }) => target.open && void run(payByPhone))
if (location.protocol !== 'https:') one('#phone-note').textContent += ' Phones need https, and this address has none.'

async function showTokens() {
  const { data } = await (await fetch(at('/api/catalog'))).json()
  const { requiredTokens, reason } = data.products.find((product) => product.path === path)
  if (requiredTokens !== null) one('#tokens').textContent = `${requiredTokens} ${symbol} now`
  if (reason !== undefined) say(`Not for sale now: ${reason}.`)
}

function addWallet(wallet) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'main'
  const icon = new Image(24, 24)
  icon.src = wallet.icon
  icon.alt = ''
  button.append(icon, `Pay with ${wallet.name}`)
  button.addEventListener('click', () => void run(() => payWith(wallet)))
  one('#wallets').append(button)
  one('#no-wallet').hidden = true
}

/** One purchase at a time; an error is shown and loses nothing. */
async function run(work) {
  const buttons = document.querySelectorAll('#wallets button, #test-wallet, #resume')
  for (const button of buttons) button.disabled = true
  try {
    await work()
  } catch (error) {
    say(error.message, true)
  } finally {
    for (const button of buttons) button.disabled = false
    one('#stored').hidden = localStorage.getItem(storageKey) === null
  }
}

async function payWith(wallet) {
  if (!form.reportValidity()) return
  const order = readOrder(form)
  say(`Connecting ${wallet.name} …`)
  const { address, sign } = await wallet.connect()
  say('Asking for the price …')
  await requestPrice(order, address)
  const { secret, digest } = await newSecret()
  // Refused for a wallet that lacks tokens or SOL, before it is asked to sign.
  const { transaction } = await post(`/pay${path}/${digest}`, { account: address })
  say(`Sign the transaction in ${wallet.name}.`)
  const signed = await sign(fromBase64(transaction))
  await deliver({
    order,
    wallet: address,
    proof: proofOf({ transaction: base64(signed), secret }),
    key: crypto.randomUUID(),
  })
}

async function payByPhone() {
  if (!form.reportValidity()) return
  const order = readOrder(form)
  await requestPrice(order, someWallet)
  const { secret, digest } = await newSecret()
  const code = new Image(256, 256)
  code.src = at(`/pay${path}/${digest}?qr`)
  code.alt = 'Solana Pay code of this payment'
  one('#qr').replaceChildren(code)
  say('Waiting for the payment of your phone …')
  const { signature, wallet } = await findPayment(digest)
  await deliver({ order, wallet, proof: proofOf({ signature, secret }), key: crypto.randomUUID() })
}

async function findPayment(digest) {
  for (let poll = 1; poll <= pollsMax && one('#phone').open; poll++) {
    await sleep(pollMs)
    const response = await fetch(at(`/pay/payment/${digest}`))
    if (response.ok) return (await response.json()).data
  }
  throw new Error('No payment has arrived. Open the code again for a new one.')
}

/** A wrong parameter is refused here, before anything is paid. */
async function requestPrice(order, wallet) {
  const response = await ask(order, { 'x-wallet-address': wallet })
  const body = await response.json()
  if (response.status !== 402) throw new Error(errorText(body))
  // The transaction that this page gets is for the price of the product.
  if (body.pricing.endpoint !== path)
    throw new Error(`This page does not sell ${body.pricing.endpoint}. Leave the model empty, or buy with a program.`)
  say(`The price is ${body.pricing.requiredTokens} ${symbol}; ${body.burnInfo.percentage} % of it is burned.`)
}

async function newSecret() {
  const secret = base64Url(crypto.getRandomValues(new Uint8Array(16)))
  return { secret, digest: base64Url(await sha256(secret)) }
}

function proofOf(content) {
  return btoa(JSON.stringify(content))
}

/** The payment is stored before it leaves, so that neither a crash nor a lost answer costs it. */
async function deliver(payment) {
  localStorage.setItem(storageKey, JSON.stringify(payment))
  const { order, wallet, proof, key } = payment
  say('Paying …')
  const response = await present(order, {
    'x-wallet-address': wallet,
    'x-payment-proof': proof,
    'idempotency-key': key,
  })
  if (response.ok || response.status === 402) localStorage.removeItem(storageKey)
  if (!response.ok) throw new Error(errorText(await response.json()))
  await show(await saleOf(response), wallet)
}

/** The receipt is in the body, or at a separate address when the body has another format. */
async function saleOf(response) {
  const isJson = response.headers.get('content-type').startsWith('application/json')
  const data = isJson ? await response.json() : await response.text()
  const address = response.headers.get('receipt-location')
  if (address === null) return data
  const { receipt, inclusionProof } = (await (await fetch(at(address))).json()).data
  return { data, receipt, inclusionProof }
}

async function present(order, headers) {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const response = await ask(order, headers).catch(() => undefined)
    if (response !== undefined && !(await isUnsettled(response))) return response
    say('The payment is not settled yet. The same payment is presented again …')
    await sleep(1000 * Number(response?.headers.get('retry-after') ?? 1))
  }
  throw new Error('The outcome is not known yet. Do not pay again: ask again for the answer.')
}

async function isUnsettled(response) {
  if ([408, 409, 429].includes(response.status) || response.status >= 500) return true
  if (response.status !== 402) return false
  return (await response.clone().json()).reason === 'not_found'
}

async function show({ data, receipt, inclusionProof }, wallet) {
  const keys = await (await fetch(at('/.well-known/jwks.json'))).json()
  showData(one('#data'), data)
  showReceipt(one('#receipt'), receipt, { inclusion: inclusionProof && at(inclusionProof) })
  one('#receipt-json').textContent = JSON.stringify(receipt, undefined, 2)
  const checks = await verifyReceipt(receipt, keys, { wallet, endpoint: path })
  showChecks(one('#checks'), checks)
  const isGood = checks.every(({ holds }) => holds)
  say(isGood ? 'Paid. The receipt is verified.' : 'Paid. The receipt does not verify: keep it.', !isGood)
  one('#answer').hidden = false
  one('#answer').focus()
}

function ask(order, headers) {
  const { url, ...request } = requestOf(method, at(path), order)
  return fetch(url, { ...request, headers: { ...request.headers, accept: 'application/json', ...headers } })
}

async function post(address, body) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(at(address), { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

async function fund(address) {
  say('Funding the test wallet …')
  await post(`/pay/test-wallet/${address}`, {})
}

function say(text, isProblem = false) {
  const status = one('#status')
  status.textContent = text
  status.classList.toggle('problem', isProblem)
}

/** Products in the wire format of OpenAI have an object. */
function errorText({ error }) {
  return error?.message ?? error
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
