import { createServer, type IncomingHttpHeaders, request as openRequest } from 'node:http'
import { assert, assertPresent } from '@tollbook/core/assert'

/** An HTTP relay that cuts the connection instead of passing on some paid answers: the service has answered by then. */
export interface DroppingProxy extends AsyncDisposable {
  readonly baseUrl: string
  /** Paid answers that were not passed on. */
  dropped(): number
}

/** The header of either rail that carries a payment. */
function paymentOf({ authorization, 'payment-signature': x402 }: IncomingHttpHeaders): string | undefined {
  return x402?.toString() ?? authorization
}

/** Relays to the targets in turn. Drops the first answer to each `every`th payment; 0 drops none. */
export async function openDroppingProxy(targetUrls: readonly string[], every: number): Promise<DroppingProxy> {
  const targets = targetUrls.map((url) => new URL(url))
  let relays = 0
  const seen = new Set<string>()
  let dropped = 0

  function isLost(payment: string | undefined, status: number | undefined): boolean {
    if (payment === undefined || status !== 200 || seen.has(payment)) return false
    seen.add(payment)
    return every > 0 && seen.size % every === 0
  }

  const server = createServer((request, response) => {
    const { method, headers, url: path } = request
    const { hostname: host, port } = assertPresent(targets[relays++ % targets.length], 'there is a target')
    const relayed = openRequest({ host, port, method, path, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => {
        if (isLost(paymentOf(headers), answer.statusCode)) {
          dropped++
          response.destroy()
          return
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        response.end(Buffer.concat(chunks))
      })
    })
    relayed.on('error', () => response.destroy())
    request.pipe(relayed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'the proxy listens on a port')
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    dropped: () => dropped,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
