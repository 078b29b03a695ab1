import { connect } from 'node:net'
import { setInterval, setTimeout } from 'node:timers'
import { createTally, type Target } from './attack.ts'

export interface HeldConnections {
  readonly count: number
  /** Sent as soon as the connection is open, and again every `everyMs` while the server takes it. */
  readonly bytes: string
  readonly everyMs?: number
  readonly reads: boolean
}

const reopenMs = 1_000
// Opened over a second: an attacker does not care, and the listener's queue does not overflow.
const openPerTick = 20
const tickMs = 20

/** Keeps connections open, and opens a new one for each that the server closes. */
export function holdConnections(
  { port, addresses }: Target,
  held: HeldConnections,
): () => Readonly<Record<string, number>> {
  const tally = createTally()
  let opened = 0
  const open = (index: number): void => {
    const localAddress = addresses[index % addresses.length]
    const socket = connect({ port, host: '127.0.0.1', ...(localAddress === undefined ? {} : { localAddress }) })
    tally.add('opened')
    socket.write(held.bytes)
    if (!held.reads) socket.pause()
    else socket.on('data', (chunk) => tally.add(statusOf(chunk)))
    const again =
      held.everyMs === undefined
        ? undefined
        : setInterval(() => void (socket.writableNeedDrain || socket.write(held.bytes)), held.everyMs)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      clearInterval(again)
      tally.add('closed')
      setTimeout(() => open(index), reopenMs)
    })
  }
  const ramp = setInterval(() => {
    for (let n = 0; n < openPerTick && opened < held.count; n++) open(opened++)
    if (opened >= held.count) clearInterval(ramp)
  }, tickMs)
  return tally.read
}

function statusOf(chunk: Buffer): string {
  return /^HTTP\/1\.1 (\d{3})/.exec(chunk.subarray(0, 16).toString('latin1'))?.[1] ?? 'data'
}
