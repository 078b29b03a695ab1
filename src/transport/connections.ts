import type { Socket } from 'node:net'
import { limitKey, plainAddress } from './clientAddress.ts'

/** Limits the open connections per client address and in total. */
export interface Connections {
  /** Counts a new connection. False if nothing of the connection should be read. */
  take(socket: Socket): boolean
  /** Marks a connection with a request in progress, so that it is not closed to make room. */
  hold(socket: Socket): void
  /** Marks the connection as idle when its request ends. */
  release(socket: Socket): void
  readonly count: () => number
}

/** Maximum numbers of open connections, in total and per client address. */
export interface ConnectionLimits {
  /** At this number, a new connection closes the one that has been idle longest. */
  readonly connectionsMax: number
  /** Infinity behind a proxy, because all clients share its address. */
  readonly connectionsPerAddressMax: number
}

const msPerSecond = 1_000

function refuse(socket: Socket): false {
  socket.destroy()
  return false
}

/** Judges client addresses by the load that they cause. */
export interface Judge {
  /** True if new connections stay unread and are closed later, which costs a quarter of serving them. */
  turnsAway(address: string): boolean
  /**
   * Seconds until an unread connection is closed. They keep a client that reconnects at once from causing an accept per
   * request.
   */
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
    // Refuse a connection that the client reset before the accept, because its request would still be served.
    if (socket.remoteAddress === undefined) return refuse(socket)
    const address = limitKey(plainAddress(socket.remoteAddress))
    const ofAddress = byAddress.get(address) ?? 0
    if (ofAddress >= connectionsPerAddressMax) return refuse(socket)
    if (open >= connectionsMax) {
      const [longestIdle] = idle
      if (longestIdle === undefined) return refuse(socket)
      // The socket closes after this turn of the event loop. Remove it now, because further connections arrive in the
      // same turn.
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
  // Node's HTTP server adds no error listener to this socket.
  socket.on('error', () => undefined)
  socket.pause()
  setTimeout(() => socket.destroy(), parkedMs).unref()
}
