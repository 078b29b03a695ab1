import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { Fault } from '@tollbook/core/fault'
import { readBytes, TooLong } from './readBytes.ts'

export interface PostOptions {
  readonly timeoutMs: number
  /** Default: 4 MiB, far above the size of a transaction. */
  readonly answerBytesMax?: number
}

const standardAnswerBytesMax = 4 * 1024 * 1024
// Short, because servers with a longer limit then rarely close a connection while a request is being sent.
const idleConnectionMs = 4_000
const connections = { keepAlive: true, timeout: idleConnectionMs }
const plainAgent = new PlainAgent(connections)
const tlsAgent = new TlsAgent(connections)

/**
 * Redirects are not followed, because a Solana node has no reason to redirect. Uses `http.request`, because `fetch`
 * needs much more processor time.
 */
export async function postJson(url: string, body: string, options: PostOptions): Promise<unknown> {
  const { timeoutMs, answerBytesMax = standardAnswerBytesMax } = options
  const response = await post(url, body, AbortSignal.timeout(timeoutMs))
  const bytes = await readBytes(response, answerBytesMax).catch((error: unknown) => {
    // Do not retry: the same request would return the same long answer.
    throw error instanceof TooLong ? new Fault(error.message, { retryable: false }) : error
  })
  const { statusCode = 0 } = response
  if (statusCode < 200 || statusCode > 299) throw new Error(`HTTP ${statusCode}`)
  return JSON.parse(bytes.toString('utf8'))
}

function post(url: string, body: string, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    accept: 'application/json',
  }
  const isPlain = url.startsWith('http:')
  const options = { method: 'POST', headers, signal, agent: isPlain ? plainAgent : tlsAgent }
  return new Promise((resolve, reject) => {
    const request = isPlain ? plainRequest(url, options, resolve) : tlsRequest(url, options, resolve)
    request.on('error', reject)
    request.end(body)
  })
}
