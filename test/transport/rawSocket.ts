import { connect, type Socket } from 'node:net'

/** A connection on which a test writes and reads bytes. */
export interface RawSocket {
  readonly socket: Socket
  /** All that was received so far. */
  received(): string
  /** Resolves when the server has closed the connection, with all that was received. */
  readonly closed: Promise<string>
}

export function openRawSocket(port: number, bytes: string, localAddress?: string): RawSocket {
  const chunks: Buffer[] = []
  const received = () => Buffer.concat(chunks).toString('latin1')
  const socket = connect({ port, host: '127.0.0.1', ...(localAddress === undefined ? {} : { localAddress }) })
  socket.write(Buffer.from(bytes, 'latin1'))
  socket.on('data', (chunk) => chunks.push(chunk))
  // A reset by the server closes the connection too.
  socket.on('error', () => undefined)
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received())))
  return { socket, received, closed }
}

/**
 * Sends lines as the head of a request whose connection ends with its answer, and a body. Returns all that was
 * received.
 */
export function exchange(port: number, head: readonly string[], body = ''): Promise<string> {
  return openRawSocket(port, [...head, 'Connection: close', '', body].join('\r\n')).closed
}
