import { connect, createServer, type Socket } from 'node:net'
import { assert } from '@tollbook/core/assert'

/** One address for a server that may be replaced, as a load balancer in TCP mode gives it. */
export interface Relay extends AsyncDisposable {
  readonly port: number
  /** Cuts every connection; new ones lead to this port. */
  leadTo(port: number): void
  /** Forwards nothing more, and closes nothing: a network that has failed. Lasts until `leadTo`. */
  freeze(): void
}

export async function openRelay(targetPort: number): Promise<Relay> {
  const pairs = new Set<Pair>()
  const state = { port: targetPort, isFrozen: false }
  const server = createServer((client) => {
    const pair = { client, upstream: connect(state.port, '127.0.0.1') }
    pairs.add(pair)
    join(pair, () => pairs.delete(pair))
    if (state.isFrozen) pause(pair)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'a relay listens on a port')
  const cut = (): void => {
    for (const { client, upstream } of pairs) for (const socket of [client, upstream]) socket.destroy()
  }
  return {
    port: address.port,
    leadTo(port) {
      Object.assign(state, { port, isFrozen: false })
      cut()
    },
    freeze() {
      state.isFrozen = true
      for (const pair of pairs) pause(pair)
    },
    async [Symbol.asyncDispose]() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Pair {
  readonly client: Socket
  readonly upstream: Socket
}

function join({ client, upstream }: Pair, onEnd: () => void): void {
  const end = (): void => {
    client.destroy()
    upstream.destroy()
    onEnd()
  }
  for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
  client.on('data', (chunk) => upstream.write(chunk))
  upstream.on('data', (chunk) => client.write(chunk))
}

function pause({ client, upstream }: Pair): void {
  client.pause()
  upstream.pause()
}
