import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { finished } from 'node:stream/promises'
import { encodeBase64 } from '@tollbook/core/base64'
import { describeError } from '@tollbook/core/fault'
import { readAll } from '../client/socketRequest.ts'
import { paymentOf, readRefusal, readWhole, type WalletClient, type WholeAnswer } from '../client/walletClient.ts'
import { PolicyProblem } from '../policy/policy.ts'
import type { FetchOrder, PaymentNote, RefusalCode } from '../walletWire.ts'
import { readProxyRequest } from './proxyRequest.ts'

/* An HTTP server on loopback for programs that cannot pay. A program uses it as its base URL, and the wallet pays. */

export interface ProxyDeps {
  readonly wallet: WalletClient
  readonly key: string
  readonly report: (line: string) => void
}

const bodyBytesMax = 1024 * 1024
const connectionsMax = 128

export function createProxy(deps: ProxyDeps): Server {
  const server = createServer((request, response) => {
    void answer(deps, request, response).catch((error: unknown) => {
      deps.report(describeError(error))
      if (response.headersSent) response.destroy()
      else sendError(response, 502, failureOf(error))
    })
  })
  server.maxConnections = connectionsMax
  return server
}

async function answer({ wallet, key }: ProxyDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url: path = '/', headers, socket } = request
  const asked = readProxyRequest({ method, path, headers, port: socket.localPort ?? 0, key })
  if ('refused' in asked) return sendError(response, asked.status, { code: 'REQUEST_INVALID', message: asked.refused })
  const body = await readAll(request, bodyBytesMax).catch(() => undefined)
  if (body === undefined)
    return sendError(response, 413, { code: 'REQUEST_INVALID', message: `a body has at most ${bodyBytesMax} bytes` })
  const order: FetchOrder = {
    intent: 'pay',
    method: asked.method,
    url: asked.url,
    headers: [...asked.headers],
    ...(body.length === 0 ? {} : { bodyBase64: encodeBase64(body) }),
  }
  const gone = new AbortController()
  const stream = createStreamEnd()
  // Do not stop the call after the last event, because clients leave after it, and the receipt still follows.
  response.once('close', () => {
    if (!stream.hasEnded()) gone.abort()
  })
  const opened = await wallet.open(order, gone.signal)
  const payment = isStream(opened)
    ? await sendStream(opened, { response, stream })
    : // If the connection to the wallet broke, repeat the request, which finds the open payment.
      await sendWhole(response, await readWhole(opened).catch(() => wallet.request(order)))
  if (payment !== undefined) await wallet.received(payment)
}

/**
 * States the mistakes of the policy, so that its owner can correct them. Other errors appear only in the output of the
 * proxy.
 */
function failureOf(error: unknown): { readonly code: RefusalCode; readonly message: string } {
  return error instanceof PolicyProblem
    ? { code: 'POLICY_INVALID', message: error.message }
    : { code: 'WALLET_STOPPED', message: 'the wallet does not answer' }
}

function isStream({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true
}

/**
 * Sends the answer while it arrives. If the stream breaks, the payment stays open, and the same request presents it
 * again.
 */
async function sendStream(
  opened: IncomingMessage,
  { response, stream }: { readonly response: ServerResponse; readonly stream: StreamEnd },
): Promise<PaymentNote | undefined> {
  response.writeHead(opened.statusCode ?? 502, headersOf(opened))
  for await (const chunk of opened) {
    stream.read(chunk)
    // Continue to read after the client has disconnected, because clients leave after the last event, and the receipt
    // follows.
    if (!response.destroyed && !response.write(chunk))
      await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
  response.end()
  return paymentOf(opened)
}

/** Detects the last event of a stream in the format of chat completions. */
interface StreamEnd {
  read(chunk: Uint8Array): void
  hasEnded(): boolean
}

const lastEvent = 'data: [DONE]'

function createStreamEnd(): StreamEnd {
  let [tail, ended] = ['', false]
  return {
    read(chunk) {
      // Keep the end of the previous chunk, because the event may be split between two chunks.
      const text = tail + Buffer.from(chunk).toString('latin1')
      ended ||= text.includes(lastEvent)
      tail = text.slice(1 - lastEvent.length)
    },
    hasEnded: () => ended,
  }
}

async function sendWhole(response: ServerResponse, whole: WholeAnswer): Promise<PaymentNote | undefined> {
  if (whole.kind === 'refusal') {
    const refusal = readRefusal(whole)
    sendError(response, isWorthRetry.has(refusal.code) ? 503 : 403, refusal)
    return undefined
  }
  response.writeHead(whole.status, headersOf(whole))
  response.end(whole.bytes)
  // Throws if the program disconnects early, so that the payment stays open: the program has not received its answer.
  await finished(response)
  return whole.payment
}

// Codes that are sent as 503, because clients repeat a request after a 503, but not after a 403. The repeated request
// presents an open payment again.
const isWorthRetry: ReadonlySet<RefusalCode> = new Set([
  'PAYMENT_NOT_SENT',
  'PAYMENT_UNRESOLVED',
  'PAYMENT_UNSPENT',
  'UNAVAILABLE',
  'WALLET_STOPPED',
])

function headersOf({ headers }: Pick<IncomingMessage, 'headers'>) {
  const { connection: _, 'keep-alive': _keep, 'transfer-encoding': _encoding, ...own } = headers
  return own
}

/** Clients of model providers read errors in this format. */
function sendError(
  response: ServerResponse,
  status: number,
  { code, message }: { code: string; message: string },
): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { message, type: 'tollbook_wallet', code, param: null } }))
}
