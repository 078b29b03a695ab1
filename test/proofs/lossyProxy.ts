import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { assert } from '@tollbook/core/assert'

/** A TCP relay to Postgres that loses the answers of chosen appends after they were committed. */
export interface LossyProxy extends AsyncDisposable {
  readonly databaseUrl: string
  /** From now on the answer of each append that holds this text is lost, with its connection. Undefined ends it. */
  lose(text: string | undefined): void
  /** Answers lost so far. */
  losses(): number
}

export async function openLossyProxy(databaseUrl: string): Promise<LossyProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let text: string | undefined
  let losses = 0

  function relay(client: Socket, upstream: Socket): void {
    let isLost = false
    const end = (): void => {
      for (const socket of [client, upstream]) {
        socket.destroy()
        sockets.delete(socket)
      }
    }
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
    client.on('data', (chunk) => {
      isLost ||= text !== undefined && chunk.includes(text)
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (isLost) {
        losses++
        end()
      } else client.write(chunk)
    })
  }

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) sockets.add(socket)
    relay(client, upstream)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.port = String(portOf(server.address()))
  return {
    databaseUrl: url.href,
    lose(wanted) {
      text = wanted
    },
    losses: () => losses,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function portOf(address: string | AddressInfo | null): number {
  assert(typeof address === 'object' && address !== null, 'the proxy listens on a port')
  return address.port
}
