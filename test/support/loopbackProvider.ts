import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { assert } from '@tollbook/core/assert'
import { afterFile } from './afterFile.ts'

/** Requests that a provider's server received. */
export interface Asked {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
}

export type Answering = (response: ServerResponse, asked: Asked) => void

/** A provider's server on loopback, which does what the test says and remembers what it was asked. */
export interface LoopbackProvider {
  readonly url: string
  readonly asked: readonly Asked[]
  answer(answering: Answering): void
}

export async function startLoopbackProvider(answering: Answering = json([])): Promise<LoopbackProvider> {
  let current = answering
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    const one = { method, url: new URL(url, 'http://provider.invalid'), headers }
    asked.push(one)
    current(response, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterFile(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'the server listens on a port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    answer(next) {
      current = next
    },
  }
}

export interface Saying {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

export function json(body: unknown, saying: Saying = {}): Answering {
  return text(JSON.stringify(body), { ...saying, headers: { 'content-type': 'application/json', ...saying.headers } })
}

export function text(body: string, { status = 200, headers = {} }: Saying = {}): Answering {
  return (response) => response.writeHead(status, headers).end(body)
}

/** An address without a listener. */
export async function deadUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'the server listens on a port')
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${address.port}`
}
