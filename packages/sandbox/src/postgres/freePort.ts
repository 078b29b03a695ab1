import { createServer } from 'node:net'
import { Fault } from '@tollbook/core/fault'
import { randomBytesOf } from '@tollbook/core/id'

/**
 * Returns the wanted port if it is free. For 0, chooses one below the range for outgoing connections (Linux: 32,768,
 * macOS: 49,152). In that range, a client that reconnects while Postgres restarts could get the port as its own,
 * connect to itself, and block the restart.
 */
export async function choosePort(wanted: number): Promise<number> {
  if (wanted !== 0) {
    if (await isFree(wanted)) return wanted
    throw new Fault(`port ${wanted} is taken: choose another one, or 0 for any free one`, { retryable: false })
  }
  for (let draw = 1; draw <= drawsMax; draw++) {
    const port = portMin + (Buffer.from(randomBytesOf(4)).readUInt32BE() % portCount)
    if (await isFree(port)) return port
  }
  throw new Fault(`found no free port in ${drawsMax} draws`, { retryable: true })
}

const portMin = 20_000
const portCount = 12_000
const drawsMax = 50

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
