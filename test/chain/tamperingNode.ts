import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { z } from 'zod'
import { assert } from '@tollbook/core/assert'

/** Response of a node: a status and a text, silence without end, or a connection that is cut. */
export type Reply = { readonly status: number; readonly text: string; readonly location?: string } | 'hang' | 'cut'

export interface Call {
  readonly method: string
  /** Lets the real chain answer. */
  readonly forward: () => Promise<string>
}

export type Tamper = (call: Call) => Promise<Reply> | Reply

/** A real HTTP server in front of a chain, which answers some methods in its own way and passes the others on. */
export interface TamperingNode {
  readonly url: string
  /** The methods that it was asked, in order. */
  readonly asked: string[]
  answer(method: string, tamper: Tamper): void
  /** Passes everything on again. */
  behave(): void
  close(): Promise<void>
}

export async function openTamperingNode(chainUrl: string): Promise<TamperingNode> {
  const tampers = new Map<string, Tamper>()
  const asked: string[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    const { method } = frame.parse(JSON.parse(body))
    asked.push(method)
    const forward = () => post(chainUrl, body)
    const reply = await (tampers.get(method) ?? passOn)({ method, forward })
    if (reply === 'hang') return
    if (reply === 'cut') return void response.destroy()
    const location = reply.location === undefined ? {} : { location: reply.location }
    response.writeHead(reply.status, { 'content-type': 'application/json', ...location }).end(reply.text)
  }

  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  assert(bound !== null && typeof bound === 'object', 'a TCP server has a port')
  return {
    url: `http://127.0.0.1:${bound.port}`,
    asked,
    answer: (method, tamper) => void tampers.set(method, tamper),
    behave() {
      tampers.clear()
      asked.length = 0
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        // Hanging answers would keep it open without limit.
        server.closeAllConnections()
      }),
  }
}

const frame = z.object({ method: z.string() })

const passOn: Tamper = async ({ forward }) => answered(await forward())

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(z.instanceof(Buffer).parse(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

async function post(url: string, body: string): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return response.text()
}

/** The chain's answer, unchanged. */
export function answered(text: string): Reply {
  return { status: 200, text }
}

/** An ordinary answer with this result. */
export function resultReply(result: unknown): Reply {
  return { status: 200, text: JSON.stringify({ jsonrpc: '2.0', id: 1, result }) }
}

/** An ordinary answer with this error. */
export function errorReply(code: number, message: string): Reply {
  return { status: 200, text: JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } }) }
}

/** The call takes effect, and the caller never hears of it. */
export const loseAnswer: Tamper = async ({ forward }) => {
  await forward()
  return 'cut' as const
}

const transactionAnswer = z.object({
  result: z.looseObject({ blockTime: z.int(), meta: z.looseObject({ preTokenBalances: z.unknown() }) }).nullable(),
})
export type ShownTransaction = NonNullable<z.infer<typeof transactionAnswer>['result']>

/** The chain's own record of a transaction, with other members. */
export function tamperedRecord(lie: (shown: ShownTransaction) => object): Tamper {
  return async ({ forward }) => {
    const { result } = transactionAnswer.parse(JSON.parse(await forward()))
    return resultReply(result === null ? null : { ...result, ...lie(result) })
  }
}

/** A lie about the effects, which no signature covers. */
export function movingNothing({ meta }: ShownTransaction) {
  return { meta: { ...meta, postTokenBalances: meta.preTokenBalances } }
}
