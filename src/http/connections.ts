import type { Socket } from 'node:net'
import { limitKey, plainAddress } from './clientAddress.ts'

/** Bounds the connections, for each client address and in all. */
export interface Connections {
  /** `read` starts the reading of the connection: at once, when its address may be served again, or never. */
  take(socket: Socket, read: () => void): void
  /** A request on this connection is served, so the connection is not closed to make room. */
  hold(socket: Socket): void
  /** The request is over. */
  release(socket: Socket): void
  readonly count: () => number
}

export interface ConnectionLimits {
  /** At this number the connection that has been idle longest is closed for a new one. */
  readonly connectionsMax: number
  /** Infinity behind a proxy, whose address is that of every client. */
  readonly connectionsPerAddressMax: number
}

/** Decides about the connections of an address that has not paid, while strangers cause too much work. */
export interface ConnectionGuard {
  /** Whether a new connection is left unread, which costs a quarter of serving it. */
  turnsAway(address: string): boolean
  /** Whether a connection that was left unread is read now. */
  readsLater(address: string): boolean
}

// A client that reconnects at once would otherwise cause an accept for each of its requests.
const parkedMs = 30_000
const judgedEveryMs = 1_000

export function createConnections(
  { connectionsMax, connectionsPerAddressMax }: ConnectionLimits,
  guard: ConnectionGuard,
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
  const take = (socket: Socket, read: () => void): void => {
    const address = limitKey(plainAddress(socket.remoteAddress ?? ''))
    const ofAddress = byAddress.get(address) ?? 0
    const [longestIdle] = open >= connectionsMax ? idle : []
    if (ofAddress >= connectionsPerAddressMax || (open >= connectionsMax && longestIdle === undefined)) {
      socket.destroy()
      return
    }
    longestIdle?.destroy()
    open++
    byAddress.set(address, ofAddress + 1)
    idle.add(socket)
    socket.once('close', () => close(address, socket))
    if (guard.turnsAway(address)) park(socket, { read, mayRead: () => guard.readsLater(address) })
    else read()
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

interface Parked {
  readonly read: () => void
  readonly mayRead: () => boolean
}

/** Leaves a connection unread until its address may be served again, and closes it in the end. */
function park(socket: Socket, { read, mayRead }: Parked): void {
  // It has no listener of Node's HTTP server.
  const ignore = (): void => undefined
  socket.on('error', ignore)
  socket.pause()
  let judgements = parkedMs / judgedEveryMs
  const judging = setInterval(() => {
    if (mayRead()) {
      clearInterval(judging)
      socket.off('error', ignore)
      read()
      socket.resume()
    } else if (--judgements === 0) socket.destroy()
  }, judgedEveryMs)
  judging.unref()
  socket.once('close', () => clearInterval(judging))
}
