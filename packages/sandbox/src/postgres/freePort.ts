import { createServer } from 'node:net'
import { Fault } from '@tollbook/core/fault'
import { randomBytesOf } from '@tollbook/core/id'

/**
 * Chooses a port below 32,768, where Linux starts its range for outgoing connections (macOS: 49,152). A port in that
 * range could be lost while Postgres restarts: a client that reconnects in a loop may get it as its source port. The
 * client would then connect to itself and block the restart.
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
