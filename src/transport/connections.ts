import type { Socket } from 'node:net'
import { limitKey, plainAddress } from './clientAddress.ts'

/** Bounds the connections, for each client address and in all. */
export interface Connections {
  /** False when nothing of the connection is to be read. */
  take(socket: Socket): boolean
  /** A request on this connection is served, so the connection is not closed to make room. */
  hold(socket: Socket): void
  /** The request is over. */
  release(socket: Socket): void
  readonly count: () => number
}

/** Maximum numbers of open connections, in all and for one client address. */
export interface ConnectionLimits {
  /** At this number the connection that has been idle longest is closed for a new one. */
  readonly connectionsMax: number
  /** Infinity behind a proxy, whose address is that of every client. */
  readonly connectionsPerAddressMax: number
}

const msPerSecond = 1_000

function refuse(socket: Socket): false {
  socket.destroy()
  return false
}

/** Judges client addresses by the load that they cause. */
export interface Judge {
  /** Whether new connections are left unread and closed later, which costs a quarter of serving them. */
  turnsAway(address: string): boolean
  /** The time until then keeps a client that reconnects at once from causing an accept for each of its requests. */
  restSeconds(address: string): number
}

export function createConnections(
  { connectionsMax, connectionsPerAddressMax }: ConnectionLimits,
  { turnsAway, restSeconds }: Judge,
): Connections {
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
    // The client has reset it while it waited to be accepted. Its request would still be served.
    if (socket.remoteAddress === undefined) return refuse(socket)
    const address = limitKey(plainAddress(socket.remoteAddress))
    const ofAddress = byAddress.get(address) ?? 0
    if (ofAddress >= connectionsPerAddressMax) return refuse(socket)
    if (open >= connectionsMax) {
      const [longestIdle] = idle
      if (longestIdle === undefined) return refuse(socket)
      // It closes after this turn of the event loop, in which further connections arrive.
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
    take,
    hold: (socket) => void idle.delete(socket),
    release(socket) {
      if (!socket.destroyed) idle.add(socket)
    },
    count: () => open,
  }
}

function park(socket: Socket, parkedMs: number): void {
  // It has no listener of Node's HTTP server.
  socket.on('error', () => undefined)
  socket.pause()
  setTimeout(() => socket.destroy(), parkedMs).unref()
}
