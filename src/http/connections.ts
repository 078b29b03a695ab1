import type { Socket } from 'node:net'
import { limitKey, plainAddress } from './clientAddress.ts'

/** Bounds the connections, for each client address and in all. */
export interface Connections {
  take(socket: Socket): void
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

function refuse(socket: Socket): void {
  socket.destroy()
}

export function createConnections({ connectionsMax, connectionsPerAddressMax }: ConnectionLimits): Connections {
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
  const take = (socket: Socket): void => {
    const address = limitKey(plainAddress(socket.remoteAddress ?? ''))
    const ofAddress = byAddress.get(address) ?? 0
    if (ofAddress >= connectionsPerAddressMax) return refuse(socket)
    if (open >= connectionsMax) {
      const [longestIdle] = idle
      if (longestIdle === undefined) return refuse(socket)
      longestIdle.destroy()
    }
    open++
    byAddress.set(address, ofAddress + 1)
    idle.add(socket)
    socket.once('close', () => close(address, socket))
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
