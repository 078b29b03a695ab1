/*
 * The service creates the transaction, a wallet signs it, and the page presents the proof until there is an answer.
 * Other people who see the payment on chain cannot use it, because they lack the secret of the payment.
 */

import { verifyReceipt } from '@tollbook/client/verifyReceipt'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { toBase64Url, utf8Bytes } from '@tollbook/core/bytes'
import { systemClock } from '@tollbook/core/clock'
import { sha256 } from '@tollbook/core/digest'
import { randomToken } from '@tollbook/core/id'
import { errorMessage, receiptBody, type SaleBody } from '@tollbook/core/wire'
import { send, wordsOf } from './api.ts'
import { all, element, one, oneOf } from './element.ts'
import { fillFrom, type Order, readOrder, requestOf } from './form.ts'
import { showData, showReceipt, showVerdict } from './result.ts'
import { createTestWallet, listenForWallets, type Wallet } from './wallets.ts'

const triesMax = 20
/** A phone has five minutes to pay. */
const pollMs = 3_000
const pollsMax = 100
/** A day after it arrived, a payment buys nothing any more and is owed back. */
const codeMaxMs = 24 * 60 * 60 * 1000

interface Payment {
  readonly order: Order
  readonly wallet: string
  /** Value of the header `x-payment-proof`. */
  readonly proof: string
  /** Value of the header `idempotency-key`. */
  readonly key: string
}

/** A code that was shown to a phone. Only this page has its secret, so it is stored before the phone can pay. */
interface Code extends Pick<Payment, 'order' | 'key'> {
  readonly secret: string
  readonly shownAtMs: number
}

const form = oneOf(HTMLFormElement, '#order')
const phone = oneOf(HTMLDetailsElement, '#phone')
const { path = '', page = '', method = '', root = '', chain = '', symbol = '', someWallet = '' } = one('main').dataset
/** Addresses are relative to the page: `root` leads from the page to the root of the service. */
const at = (address: string) => new URL(`${root}${address.slice(1)}`, location.href).href
const storageKey = `tollbook payment ${path}`
const codeKey = `tollbook code ${path} `

fillFrom(form, location.search)
await showTokens().catch((error: unknown) => say(wordsOf(error), true))
await takeArrivals().catch((error: unknown) => say(wordsOf(error), true))
one('#stored').hidden = storedPayments().length === 0
one('#resume').addEventListener('click', () => void run(resume))
listenForWallets(chain, addWallet)
offerTestWallet()
phone.addEventListener('toggle', () => {
  if (phone.open) void run(payByPhone)
})
if (location.protocol !== 'https:') one('#phone-note').append(' Phones need https, and this address has none.')

interface Catalog {
  readonly data: {
    readonly products: readonly {
      readonly path: string
      readonly requiredTokens: number | null
      readonly reason?: string
    }[]
  }
}

async function showTokens(): Promise<void> {
  const { data }: Catalog = await (await send(at('/api/catalog'))).json()
  const { requiredTokens = null, reason } = data.products.find((product) => product.path === path) ?? {}
  if (requiredTokens !== null) one('#tokens').textContent = `${requiredTokens} ${symbol} now`
  if (reason !== undefined) say(`Not for sale now: ${reason}.`)
}

function addWallet(wallet: Wallet): void {
  const icon = element('img', { src: wallet.icon ?? '', alt: '', width: 24, height: 24 })
  const button = element('button', { type: 'button', className: 'main' }, icon, `Pay with ${wallet.name}`)
  button.addEventListener('click', () => void run(() => payWith(wallet)))
  one('#wallets').append(button)
  one('#no-wallet').hidden = true
}

function offerTestWallet(): void {
  const button = document.querySelector('#test-wallet')
  if (button === null) return
  const wallet = createTestWallet(async (address) => {
    say('Funding the test wallet …')
    await post(`/pay/test-wallet/${address}`, {})
  })
  one('#no-wallet').hidden = true
  button.addEventListener('click', () => void run(() => payWith(wallet)))
}

interface StoredPayment {
  /** Name in the storage of the browser. */
  readonly name: string
  readonly payment: Payment
}

/** Returns the payments that have no answer. Each has a name, so that a second purchase does not replace it. */
function storedPayments(): readonly StoredPayment[] {
  return Object.keys(localStorage)
    .filter((name) => name === storageKey || name.startsWith(`${storageKey} `))
    .map((name) => ({ name, payment: JSON.parse(localStorage.getItem(name) ?? '') }))
}

/**
 * Asks again for the answers of stored payments. Stops at the first answer, so that it stays visible. A payment that
 * buys nothing now does not hide the others.
 */
async function resume(): Promise<void> {
  let failure: unknown
  for (const stored of storedPayments()) {
    try {
      return await deliver(stored)
    } catch (error) {
      failure = error
    }
  }
  if (failure !== undefined) throw failure
}

/** Disables the buttons, so that only one step runs at a time. After an error, a stored payment stays available. */
async function run(work: () => Promise<void>): Promise<void> {
  const buttons = all('#wallets button, #test-wallet, #resume')
  const enable = (isEnabled: boolean) => buttons.forEach((button) => button.toggleAttribute('disabled', !isEnabled))
  enable(false)
  try {
    await work()
  } catch (error) {
    say(wordsOf(error), true)
  } finally {
    enable(true)
    one('#stored').hidden = storedPayments().length === 0
  }
}

async function payWith({ name, connect }: Wallet): Promise<void> {
  if (!form.reportValidity()) return
  await refuseSecondPayment()
  const order = readOrder(form)
  say(`Connecting ${name} …`)
  const { address, signTransaction } = await connect()
  say('Asking for the price …')
  await requestPrice(order, address)
  const { secret, digest } = newSecret()
  // Get the transaction before the wallet signs: the service refuses a wallet without enough tokens or SOL.
  const { transaction } = await post(`${page}/${digest}`, { account: address })
  say(`Sign the transaction in ${name}.`)
  const signed = await signTransaction(assertPresent(readBase64(transaction ?? ''), 'a transaction is base64'))
  const proof = proofOf({ transaction: encodeBase64(signed), secret })
  await deliver(storedAs({ order, wallet: address, proof, key: randomToken() }))
}

async function payByPhone(): Promise<void> {
  if (!form.reportValidity()) return
  await refuseSecondPayment()
  const order = readOrder(form)
  // The wallet of the phone is unknown until it pays, so the quote is for a sample wallet.
  await requestPrice(order, someWallet)
  const { secret, digest } = newSecret()
  const key = randomToken()
  const code: Code = { order, key, secret, shownAtMs: systemClock.nowMs() }
  localStorage.setItem(codeKey + key, JSON.stringify(code))
  const src = at(`${page}/${digest}?qr`)
  const image = element('img', { src, alt: 'Solana Pay code of this payment', width: 256, height: 256 })
  one('#qr').replaceChildren(image)
  say('Waiting for the payment of your phone …')
  await deliver(await arrivalOf(code))
}

async function arrivalOf(code: Code): Promise<StoredPayment> {
  // Closing the code ends the wait, during which all other ways to pay are disabled.
  for (let poll = 1; poll <= pollsMax && phone.open; poll++) {
    await systemClock.sleep(pollMs)
    const stored = await takeArrival(code)
    if (stored !== undefined) return stored
  }
  throw new Error('No payment has arrived. If your phone has paid, open the code again to look for the payment.')
}

/** Throws if the payment of an earlier code has arrived, because its payer may not know this and would pay again. */
async function refuseSecondPayment(): Promise<void> {
  if ((await takeArrivals()) > 0)
    throw new Error('The payment of an earlier code has arrived. Ask again for its answer before you pay once more.')
}

/** Returns the number of payments that arrived after their code was closed, or its page was left. */
async function takeArrivals(): Promise<number> {
  const codes = Object.keys(localStorage).filter((name) => name.startsWith(codeKey))
  const arrivals = await Promise.all(codes.map((name) => takeArrival(JSON.parse(localStorage.getItem(name) ?? ''))))
  return arrivals.filter((stored) => stored !== undefined).length
}

/** Replaces a code by its payment. Undefined while the chain does not have the payment. */
async function takeArrival({ order, key, secret, shownAtMs }: Code): Promise<StoredPayment | undefined> {
  // A broken connection must not end the wait.
  const response = await send(at(`/pay/payment/${digestOf(secret)}`)).catch(() => undefined)
  if (response?.ok !== true) {
    if (systemClock.nowMs() - shownAtMs > codeMaxMs) localStorage.removeItem(codeKey + key)
    return undefined
  }
  const { signature, wallet } = (await response.json()).data
  const stored = storedAs({ order, wallet, proof: proofOf({ signature, secret }), key })
  localStorage.setItem(stored.name, JSON.stringify(stored.payment))
  localStorage.removeItem(codeKey + key)
  return stored
}

/** Requests a quote first, so that the service refuses a wrong parameter before anything is paid. */
async function requestPrice(order: Order, wallet: string): Promise<void> {
  const response = await ask(order, { 'x-wallet-address': wallet })
  const { pricing, burnInfo, error } = await response.json()
  if (response.status !== 402) throw new Error(errorMessage(error))
  // The page's transaction always has the price of this product, so refuse another endpoint.
  if (pricing.endpoint !== path)
    throw new Error(`This page does not sell ${pricing.endpoint}. Leave the model empty, or buy with a program.`)
  say(`The price is ${pricing.requiredTokens} ${symbol}; ${burnInfo.percentage} % of it is burned.`)
}

/**
 * Creates the secret of a payment. The transaction contains only its digest, so the chain does not show the secret
 * before the proof.
 */
function newSecret() {
  const secret = randomToken()
  return { secret, digest: digestOf(secret) }
}

function digestOf(secret: string): string {
  return toBase64Url(sha256(secret))
}

function proofOf(content: Readonly<Record<string, string>>): string {
  return encodeBase64(utf8Bytes(JSON.stringify(content)))
}

function storedAs(payment: Payment): StoredPayment {
  return { name: `${storageKey} ${payment.key}`, payment }
}

/**
 * Presents a payment and shows its answer. The payment is stored until its answer is shown or it is refused as invalid,
 * so that it survives a crash of the browser or a lost answer.
 */
async function deliver({ name, payment }: StoredPayment): Promise<void> {
  localStorage.setItem(name, JSON.stringify(payment))
  const { order, wallet, proof, key } = payment
  say('Paying …')
  const headers = { 'x-wallet-address': wallet, 'x-payment-proof': proof, 'idempotency-key': key }
  const response = await insist(() => ask(order, headers))
  if (!response.ok) {
    const { code, error } = await response.json()
    // Any other error leaves the payment valid. For example, the item does not exist, or a node shows the balance after
    // the payment, but not yet the payment.
    if (code === 'INVALID_PAYMENT') localStorage.removeItem(name)
    throw new Error(errorMessage(error))
  }
  await show(await saleOf(response), wallet)
  localStorage.removeItem(name)
}

type Sale = Pick<SaleBody, 'data' | 'receipt' | 'inclusionProof'>

/** Returns the sale. Its receipt is in the body, or at the address in the header `receipt-location`. */
async function saleOf(response: Response): Promise<Sale> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const body = isJson ? await response.json() : await shownBody(response)
  const address = response.headers.get('receipt-location')
  if (address === null) return body
  // Insist, because the answer of a stream cannot be shown again.
  const { data } = await (await insist(() => send(at(address)))).json()
  return { ...data, data: body }
}

/** Returns the body. Text is unchanged, and other content is a data URI. */
async function shownBody(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  if (/^(text\/|application\/([^;]+\+)?(json|xml))/.test(type)) return response.text()
  return `data:${type};base64,${encodeBase64(new Uint8Array(await response.arrayBuffer()))}`
}

/** Repeats a request until its outcome is known. Each try has the same proof and key, so that no try pays or buys twice. */
async function insist(tryOnce: () => Promise<Response>): Promise<Response> {
  for (let tries = 1; tries <= triesMax; tries++) {
    const response = await tryOnce().catch(() => undefined)
    if (response !== undefined && !(await isUnsettled(response))) return response
    say('The payment is not settled yet. The same payment is presented again …')
    await systemClock.sleep(1000 * Number(response?.headers.get('retry-after') ?? 1))
  }
  throw new Error('The outcome is not known yet. Do not pay again: ask again for the answer.')
}

async function isUnsettled(response: Response): Promise<boolean> {
  if ([408, 409, 429].includes(response.status) || response.status >= 500) return true
  if (response.status !== 402) return false
  // The payment is not on chain yet.
  return (await response.clone().json()).reason === 'not_found'
}

async function show({ data, receipt, inclusionProof }: Sale, wallet: string): Promise<void> {
  const keys: unknown = await (await send(at('/.well-known/jwks.json'))).json()
  showData(one('#data'), data)
  one('#receipt-json').textContent = JSON.stringify(receipt, undefined, 2)
  // The page verifies the receipt itself, with the package that programs use.
  const verdict = await verifyReceipt({ receipt, keys, expected: { wallet, endpoint: path } })
  const readable = receiptBody.safeParse(receipt).data
  if (readable !== undefined) showReceipt(one('#receipt'), readable, inclusionProof && at(inclusionProof))
  showVerdict(one('#checks'), verdict)
  say(verdict.valid ? 'Paid. The receipt is verified.' : 'Paid. The receipt does not verify: keep it.', !verdict.valid)
  one('#answer').hidden = false
  one('#answer').focus()
}

function ask(order: Order, headers: Readonly<Record<string, string>>): Promise<Response> {
  const { target, ...request } = requestOf(method, path, order)
  return send(at(target), { ...request, headers: { ...request.headers, accept: 'application/json', ...headers } })
}

async function post(address: string, body: Readonly<Record<string, string>>) {
  const headers = { 'content-type': 'application/json' }
  const response = await send(at(address), { method: 'POST', headers, body: JSON.stringify(body) })
  const answer: { error: string; transaction?: string } = await response.json()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

function say(text: string, isProblem = false): void {
  const status = one('#status')
  status.textContent = text
  status.classList.toggle('problem', isProblem)
}
