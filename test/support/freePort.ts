import { createServer } from 'node:net'
import { assert } from '@tollbook/core/assert'

/** A port of loopback for a program that cannot choose one by itself. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'a server listens on a port')
  await new Promise((resolve) => server.close(resolve))
  return address.port
}
