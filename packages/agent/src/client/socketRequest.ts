import { lstat, realpath } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request, type RequestOptions } from 'node:http'
import { dirname } from 'node:path'
import { z } from 'zod'
import { utf8Text } from '@tollbook/core/bytes'
import { accessProblem } from '../policy/policyFile.ts'

// Maximum bytes of response headers. It exceeds Node's limit for a service, because the wallet adds its own headers.
const headerBytesMax = 64 * 1024
const statusTimeoutMs = 5_000

export interface SocketRequest {
  readonly socket: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  readonly signal?: AbortSignal | undefined
}

/** Rejects with the error of the connection if the process does not answer. */
export async function sendToWallet({ socket, method, path, body, signal }: SocketRequest): Promise<IncomingMessage> {
  await requireOwnSocket(socket)
  const options: RequestOptions = {
    socketPath: socket,
    method,
    path,
    agent: false,
    maxHeaderSize: headerBytesMax,
    headers: { 'content-type': 'application/json' },
    signal,
  }
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = request(options, resolve)
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/**
 * Throws unless the path is a socket of this user in a folder that other users cannot change. Otherwise a process of
 * another user could read each request and forge each answer. Both errors have the code ENOENT, so that a wallet
 * process is started, which makes a new socket.
 */
async function requireOwnSocket(path: string): Promise<void> {
  const found = await lstat(path)
  const isOwn = found.isSocket() && found.uid === (process.getuid?.() ?? found.uid)
  const mistakes = await accessProblem(await realpath(dirname(path)))
  if (isOwn && mistakes.length === 0) return
  const why = isOwn ? mistakes.join('; ') : `${path} is not a socket of this user`
  throw Object.assign(new Error(why), { code: 'ENOENT' })
}

/** Throws above `bytesMax`, because an endless body would fill the memory of this process. */
export async function readAll(response: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    if (size > bytesMax) throw new Error(`it is longer than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const status = z.object({ pid: z.int(), address: z.string() })
export type WalletStatus = z.infer<typeof status>

/** Undefined if no process answers. */
export async function askWallet(socket: string): Promise<WalletStatus | undefined> {
  try {
    const signal = AbortSignal.timeout(statusTimeoutMs)
    const response = await sendToWallet({ socket, method: 'GET', path: '/status', signal })
    return status.parse(JSON.parse(utf8Text(await readAll(response, headerBytesMax))))
  } catch {
    // The socket is missing, or its process has ended or does not answer in time.
    return undefined
  }
}
