import type { Socket } from 'node:net'
import type { Admission } from './admission.ts'
import { limitKey, plainAddress } from './clientAddress.ts'

export type Connections = ReturnType<typeof createConnections>

export interface ConnectionLimits {
  /** At this number, a new connection closes the connection that has been idle longest. It is refused if none is idle. */
  readonly connectionsMax: number
  /** Infinity behind a proxy, because there all clients have the proxy's address. */
  readonly connectionsPerAddressMax: number
}

const msPerSecond = 1_000

function refuse(socket: Socket): false {
  socket.destroy()
  return false
}

export function createConnections(
  { connectionsMax, connectionsPerAddressMax }: ConnectionLimits,
  { turnsAway, restSeconds }: Pick<Admission, 'turnsAway' | 'restSeconds'>,
) {
  const byAddress = new Map<string, number>()
  const idle = new Set<Socket>()
  let open = 0
  const close = (address: string, socket: Socket) => {
    idle.delete(socket)
    open--
    const left = (byAddress.get(address) ?? 1) - 1
    if (left === 0) byAddress.delete(address)
    else byAddress.set(address, left)
  }
  const take = (socket: Socket): boolean => {
    // Refuse a connection that the client reset before it was accepted, because its request would still be served.
    if (socket.remoteAddress === undefined) return refuse(socket)
    const address = limitKey(plainAddress(socket.remoteAddress))
    const ofAddress = byAddress.get(address) ?? 0
    if (ofAddress >= connectionsPerAddressMax) return refuse(socket)
    if (open >= connectionsMax) {
      const [longestIdle] = idle
      if (longestIdle === undefined) return refuse(socket)
      // Remove the socket at once, because it closes only after this turn of the event loop, and further connections
      // arrive in the same turn.
      idle.delete(longestIdle)
      longestIdle.destroy()
    }
    open++
    byAddress.set(address, ofAddress + 1)
    idle.add(socket)
    socket.once('close', () => close(address, socket))
    if (!turnsAway(address)) return true
    park(socket, restSeconds(address) * msPerSecond)
    return false
  }
  return {
    /** Counts or refuses a new connection. Returns false if the connection must not be read. */
    take,
    /** Marks a connection that serves a request, so that it is not closed to make room. */
    hold: (socket: Socket) => void idle.delete(socket),
    release(socket: Socket): void {
      if (!socket.destroyed) idle.add(socket)
    },
    count: () => open,
  }
}

/** Delays the close, so that a client that reconnects at once does not cause an accept for each request. */
function park(socket: Socket, parkedMs: number): void {
  // Add a listener, because Node's HTTP server adds no error listener to this socket.
  socket.on('error', () => undefined)
  socket.pause()
  setTimeout(() => socket.destroy(), parkedMs).unref()
}
