import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { assert } from '@tollbook/core/assert'

export interface Sites extends AsyncDisposable {
  readonly port: number
  /** A page of the host: one that hangs or crashes, or an honest one. */
  urlOf(host: string, nth: number): string
}

/** All of 127/8 is this machine, so every caller has its own host. */
export const honestHost = '127.0.2.1'
export const attackerHost = (nth: number) => `127.0.1.${(nth % 250) + 1}`

const dripMs = 200

/** One byte at a time, so that the page is never without traffic. */
function drip(response: ServerResponse): void {
  response.write('<h1>page</h1>')
  const dripping = setInterval(() => response.write(' '), dripMs)
  response.once('close', () => clearInterval(dripping))
}

const hanging: readonly ((response: ServerResponse) => void)[] = [
  () => undefined,
  (response) => response.end('<h1>page</h1><img src="/never">'),
  (response) => response.end('<script>for(;;);</script>'),
  (response) => response.end('<script>for (const all = [];;) all.push(new Array(1e6).fill(all.length))</script>'),
  drip,
]
const honestPage = `<h1>A page</h1>${'<p>with some text</p>'.repeat(40)}`

export async function startSites(): Promise<Sites> {
  const server = createServer(({ url = '/' }, response) => {
    response.setHeader('content-type', 'text/html')
    if (url.startsWith('/honest')) response.end(honestPage)
    else hanging[Number(/^\/hang(\d+)$/.exec(url)?.[1] ?? 0) % hanging.length]?.(response)
  }).listen(0, '0.0.0.0')
  await once(server, 'listening')
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'a server that listens has a port')
  const { port } = address
  return {
    port,
    urlOf: (host, nth) => `http://${host}:${port}/${host === honestHost ? 'honest' : 'hang'}${nth}`,
    [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      return Promise.resolve()
    },
  }
}
