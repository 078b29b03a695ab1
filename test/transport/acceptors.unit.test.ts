import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { listenWithAcceptors, portOf } from '../../src/transport/acceptors.ts'
import { afterFile } from '../support/afterFile.ts'

const host = '127.0.0.1'

async function openServer(port = 0) {
  // A connection that is never ended keeps its listener from closing.
  const server = createServer((socket) => socket.destroy())
  const further = await listenWithAcceptors(server, { host, port })
  const close = () => Promise.all([server, ...further].map(closeServer))
  afterFile(() => close().then(() => undefined))
  const bound = portOf(server)
  return { server, port: bound, close }
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return
  server.close()
  await once(server, 'close')
}

// Only Linux distributes connections between the sockets of a port.
test.runIf(process.platform === 'linux')('a burst of connections is accepted several at a turn', async () => {
  const { server, port } = await openServer()
  let accepted = 0
  server.on('connection', () => accepted++)
  const clients = Array.from({ length: 64 }, () => connect({ host, port }).on('error', () => undefined))
  let turns = 0
  for (; accepted < clients.length && turns < 1_000; turns++) await setImmediate()
  for (const client of clients) client.destroy()
  expect(accepted).toBe(64)
  expect(turns).toBeLessThan(48)
})

test('a port that another service listens on in the same way is refused', async () => {
  const { port } = await openServer()
  await expect(listenWithAcceptors(createServer(), { host, port })).rejects.toThrow('EADDRINUSE')
})

test('a closed service leaves no socket on its port', async () => {
  const { port, close } = await openServer()
  await close()
  const again = await openServer(port)
  expect(again.port).toBe(port)
})
