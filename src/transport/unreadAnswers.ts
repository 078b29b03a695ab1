import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type UnreadAnswers = ReturnType<typeof createUnreadAnswers>

export interface UnreadLimits {
  /** Without progress for this long, a connection is closed. */
  readonly idleMs: number
  /** Bytes of all unread answers together. Above it, the connections that have waited longest are closed. */
  readonly bytesMax: number
}

export function createUnreadAnswers({ idleMs, bytesMax }: UnreadLimits) {
  const unread = new Map<Socket, number>()
  let total = 0
  const forget = (socket: Socket) => {
    total -= unread.get(socket) ?? 0
    unread.delete(socket)
  }
  return {
    /** Counts the answer until the operating system has taken it. */
    follow(response: ServerResponse): void {
      const { socket } = response.req
      // Node closes the connection at this timeout, and sets its own timeout again after the answer has been read.
      socket.setTimeout(idleMs)
      unread.set(socket, socket.writableLength)
      total += socket.writableLength
      response.once('close', () => forget(socket))
      for (const slowest of unread.keys()) {
        if (total <= bytesMax) break
        forget(slowest)
        slowest.destroy()
      }
    },
  }
}
