import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Limits the memory of answers that clients do not read. */
export interface UnreadAnswers {
  /** Follows a written answer until the operating system has taken it. */
  follow(response: ServerResponse): void
}

export interface UnreadLimits {
  /** Time without progress after which a connection is closed. */
  readonly idleMs: number
  /** Maximum size of all unread answers together. Above it, the connections that have waited longest are closed. */
  readonly bytesMax: number
}

/** Follows the bytes that clients have not read, so that slow readers cannot fill the memory. */
export function createUnreadAnswers({ idleMs, bytesMax }: UnreadLimits): UnreadAnswers {
  const unread = new Map<Socket, number>()
  let total = 0
  const forget = (socket: Socket) => {
    total -= unread.get(socket) ?? 0
    unread.delete(socket)
  }
  return {
    follow(response) {
      const { socket } = response.req
      // Node closes a connection at its timeout, and sets its own timeout again after the answer has been read.
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
