import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { QuoteBody } from '@tollbook/core/wire'
import { afterFile } from '../../support/afterFile.ts'
import { type PresentedProof, readPresentedProof } from './presentedProof.ts'
import { createScriptedNode, type ScriptedNode } from './scriptedNode.ts'
import { makeQuote } from './testToken.ts'

/** Outcome of one request that carries a proof. */
export type Step =
  | 'deliver'
  /** The service has done its work, and the connection breaks before a byte of the answer. */
  | 'reset'
  /** It breaks in the middle of the body. */
  | 'cut'
  /** There is never an answer. */
  | 'hang'
  /**
   * A streamed answer: whole, broken after its first event, or ended there as a proxy ends it that has lost the
   * service.
   */
  | 'stream'
  | 'broken stream'
  | 'short stream'
  | { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> }

export interface ScriptedService {
  readonly baseUrl: string
  readonly rpcUrl: string
  readonly node: ScriptedNode
  /** One step for each request with a proof; when none is left, it delivers. */
  script: Step[]
  /** The offer for a request without a proof; another step, or `'stall'` for one that never ends. */
  quote: (endpoint: string) => unknown
  receipt: (proof: PresentedProof, endpoint: string) => unknown
  onHang: () => void
  readonly issuedQuotes: readonly QuoteBody[]
  readonly presented: readonly Presented[]
  readonly unpaid: readonly Presented[]
}

export interface Presented {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A service that speaks the real wire format and misbehaves on request, together with a Solana node. */
export async function startScriptedService(): Promise<ScriptedService> {
  const issuedQuotes: QuoteBody[] = []
  const [presented, unpaid]: Presented[][] = [[], []]
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const service: ScriptedService = {
    baseUrl: `http://127.0.0.1:${port}`,
    rpcUrl: `http://127.0.0.1:${port}/rpc`,
    node: createScriptedNode(),
    script: [],
    quote: (endpoint) => {
      const quote = makeQuote({ endpoint, nowMs: Date.now() })
      issuedQuotes.push(quote)
      return quote
    },
    receipt: ({ signature }) => ({ signature }),
    onHang: () => undefined,
    issuedQuotes,
    presented: presented ?? [],
    unpaid: unpaid ?? [],
  }
  afterFile(async () => {
    server.closeAllConnections()
    server.close()
  })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request)
    if (request.url === '/rpc') return answerRpc(service.node, body, response)
    const seen = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body }
    const proof = request.headers['x-payment-proof']
    const endpoint = new URL(seen.path, service.baseUrl).pathname
    if (typeof proof !== 'string') {
      unpaid?.push(seen)
      if (endpoint.startsWith('/api/health')) return send(response, 200, { success: true })
      const offer = service.quote(endpoint)
      if (offer === 'stall') return stall(service, response)
      return isStep(offer) ? send(response, offer.status, offer.body, offer.headers) : send(response, 402, offer)
    }
    presented?.push(seen)
    const read = readPresentedProof(proof)
    const sale = {
      success: true,
      data: { ok: seen.path },
      receipt: await service.receipt(read, endpoint),
      meta: { source: 'test', asOf: new Date().toISOString(), cached: false },
    }
    const step = service.script.shift() ?? 'deliver'
    if (isStreamStep(step)) return stream(step, read, response)
    perform(service, { step, sale, response })
  }
  return service
}

type StreamStep = 'stream' | 'broken stream' | 'short stream'

function isStreamStep(step: Step): step is StreamStep {
  return step === 'stream' || step === 'broken stream' || step === 'short stream'
}

function stream(step: StreamStep, { signature }: PresentedProof, response: ServerResponse): void {
  const location = `/api/receipts/solana:${signature}?attempt=attempt_1`
  response.writeHead(200, { 'content-type': 'text/event-stream', 'receipt-location': location })
  response.write('data: one\n\n', () => {
    if (step === 'broken stream') response.destroy()
    else response.end(step === 'stream' ? receiptEventOf(signature) : '')
  })
}

export function receiptEventOf(signature: string): string {
  return `\n\nevent: receipt\ndata: {"receipt":{"signature":"${signature}"}}\n\n`
}

/** The head of an offer, and then nothing more. */
function stall(service: ScriptedService, response: ServerResponse): void {
  response.writeHead(402, { 'content-type': 'application/json' })
  response.write('{"error":', () => service.onHang())
}

function isStep(value: unknown): value is Exclude<Step, string> {
  return typeof value === 'object' && value !== null && 'status' in value
}

function perform(
  service: ScriptedService,
  { step, sale, response }: { step: Exclude<Step, StreamStep>; sale: unknown; response: ServerResponse },
) {
  if (step === 'deliver') return send(response, 200, sale)
  if (step === 'hang') return service.onHang()
  if (step === 'reset') return response.destroy()
  if (step === 'cut') {
    const text = JSON.stringify(sale)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length })
    response.write(text.slice(0, 20), () => response.destroy())
    return undefined
  }
  return send(response, step.status, step.body, step.headers)
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}

function answerRpc(node: ScriptedNode, body: string, response: ServerResponse): void {
  const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] }
  const answer = node.answer(method, params)
  if (answer === 'broken') return void response.writeHead(500).end()
  return send(response, 200, { jsonrpc: '2.0', id, ...answer })
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
