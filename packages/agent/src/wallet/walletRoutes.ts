import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { PendingPayment } from '@tollbook/client'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { utf8Text } from '@tollbook/core/bytes'
import { describeError } from '@tollbook/core/fault'
import { parseJson } from '@tollbook/core/json'
import { formatUsd } from '../attoUsd.ts'
import { readAll } from '../client/socketRequest.ts'
import type { PolicyFile } from '../policy/policyFile.ts'
import { fetchOrder, received } from '../walletWire.ts'
import type { AnsweredPayments } from './answeredPayments.ts'
import { Quoted } from './purchaseCall.ts'
import type { Purchase, Purchases } from './purchases.ts'
import { refusalOf, WalletRefusal } from './refusalError.ts'
import { sendJson, sendPurchase, sendRefusal } from './walletAnswer.ts'
import { appendReceipt, balanceReport, readReceipts, spendingReport } from './walletReport.ts'

export interface WalletDeps {
  readonly address: string
  readonly receiptsPath: string
  readonly answered: AnsweredPayments
  readonly purchases: Purchases
  readonly readPolicy: () => Promise<PolicyFile>
  readonly clock: Clock
  /** Receives bugs, and receipts that could not be written. */
  readonly report: (error: unknown) => void
}

// Maximum connections of all front ends together.
const connectionsMax = 256
const bodyBytesMax = 4 * 1024 * 1024
const receiptsMax = 100

type Handler = (deps: WalletDeps, response: ServerResponse, body: unknown) => Promise<void>
type Reader = (deps: WalletDeps) => Promise<object>

const readers: Readonly<Record<string, Reader>> = {
  '/status': async ({ address }) => ({ address, pid: process.pid }),
  async '/spending'({ answered, readPolicy, clock }) {
    const { policy } = await readPolicy()
    const [spendings, open] = await Promise.all([answered.store.spending(), answered.store.pending()])
    return spendingReport({ policy, spendings, open: open.length, nowMs: clock.nowMs() })
  },
  async '/balance'({ readPolicy, address, purchases }) {
    const { policy } = await readPolicy()
    return balanceReport(policy, { wallet: address, tabs: await purchases.tabs() })
  },
  '/receipts': async ({ receiptsPath }) => ({ receipts: await readReceipts(receiptsPath, receiptsMax) }),
  '/open': async ({ answered }) => ({ open: (await answered.store.pending()).map(openNote) }),
}

const actions: Readonly<Record<string, Handler>> = {
  '/fetch': answerFetch,
  '/retry': answerRetry,
  async '/received'({ answered }, response, body) {
    await answered.received(received.parse(body).signature)
    sendJson(response, 'answer', { status: 200, body: {} })
  },
}

function openNote({ signature, request, mint, costBaseUnits, signedAtMs = 0 }: PendingPayment) {
  return {
    signature,
    method: request.method,
    url: request.url,
    mint,
    baseUnits: costBaseUnits,
    at: isoTime(signedAtMs),
  }
}

/** Only the wallet's user can reach the socket of this server, so requests need no key. */
export function createWalletServer(deps: WalletDeps): Server {
  const server = createServer((request, response) => {
    void answer(deps, request, response).catch((error: unknown) => {
      const refusal = refusalOf(error)
      // Do not report an error if the front end disconnected during its answer.
      if (refusal === undefined && !response.destroyed) deps.report(error)
      if (response.headersSent) response.destroy()
      else
        sendRefusal(response, refusal ?? { code: 'UNAVAILABLE', message: 'the wallet failed; its log has the reason' })
    })
  })
  server.maxConnections = connectionsMax
  return server
}

async function answer(deps: WalletDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '' } = request
  const [reader, action] = [readers[url], actions[url]]
  if (method === 'GET' && reader !== undefined) sendJson(response, 'answer', { status: 200, body: await reader(deps) })
  else if (method === 'POST' && action !== undefined) await action(deps, response, await readJson(request))
  else throw new WalletRefusal('REQUEST_INVALID', `the wallet has no ${method} ${url}`)
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const bytes = await readAll(request, bodyBytesMax).catch((error: unknown) => {
    throw new WalletRefusal('REQUEST_INVALID', describeError(error))
  })
  // Text that is not JSON becomes undefined, which each schema refuses.
  return parseJson(utf8Text(bytes))
}

async function answerFetch(deps: WalletDeps, response: ServerResponse, body: unknown): Promise<void> {
  const { data: order, error } = fetchOrder.safeParse(body)
  if (order === undefined)
    throw new WalletRefusal(
      'REQUEST_INVALID',
      error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
    )
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    await deliver(deps, response, await deps.purchases.make(order, gone.signal))
  } catch (error) {
    if (!(error instanceof Quoted)) throw error
    sendJson(response, 'quote', { status: 200, body: error.quote })
  }
}

async function answerRetry(deps: WalletDeps, response: ServerResponse, body: unknown): Promise<void> {
  const { signature } = received.parse(body)
  const payment = (await deps.answered.store.pending()).find((open) => open.signature === signature)
  if (payment === undefined) throw new WalletRefusal('REQUEST_INVALID', 'no open payment has this signature')
  await deliver(deps, response, await deps.purchases.retry(payment))
}

/**
 * The payment stays open until the front end confirms the answer. The front end may be killed before that, and its next
 * equal request must not be paid again.
 */
async function deliver(deps: WalletDeps, response: ServerResponse, purchase: Purchase): Promise<void> {
  const { payment } = purchase
  try {
    if (payment !== undefined) await record(deps, payment, purchase)
    await sendPurchase(response, purchase)
  } finally {
    if (payment !== undefined) deps.answered.release(payment.signature)
  }
}

// A path or base64. A model reads the receipts, so other text of a service is dropped.
const receiptText = /^[\w/+=?&:.%~-]{1,4096}$/

/**
 * Reports a failed write and continues: a full disk must not withhold a paid answer, and the service can repeat its
 * receipts.
 */
async function record(
  { receiptsPath, clock, report }: WalletDeps,
  payment: PendingPayment,
  { cost, response: { headers } }: Purchase,
): Promise<void> {
  const receipt = headers.get('receipt-location') ?? headers.get('payment-response') ?? headers.get('payment-receipt')
  const { signature, mint, request } = payment
  const line = {
    at: isoTime(clock.nowMs()),
    method: request.method,
    url: request.url.replace(/\?.*/, ''),
    signature,
    mint,
    baseUnits: cost.baseUnits.toString(),
    usd: formatUsd(cost.attoUsd),
    receipt: receipt !== null && receiptText.test(receipt) ? receipt : null,
  }
  await appendReceipt(receiptsPath, line).catch(report)
}
