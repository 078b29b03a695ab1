import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describeError, errorCode, Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import type { FeePayerSigner } from './feePayerSigner.ts'

/** The signer on its Unix socket. A process that may open the socket may spend the budgets, so it is for one group only. */
export interface SignerServer {
  close(): Promise<void>
}

export interface SignerServerOptions {
  readonly socketPath: string
  /** Requests wait until it is open. */
  readonly signer: Promise<FeePayerSigner>
  readonly log: Log
}

const ownerAndGroup = 0o660
// A transaction in base64 has at most 1,644 characters.
const bodyBytesMax = 2_048
const requestTimeoutMs = 5_000

/**
 * Listens on a Unix socket that only its owner and group may use. The caller opens the journal afterwards, because two signers would
 * corrupt it, and only one process can listen on the socket.
 */
export async function openSignerServer({ socketPath, signer, log }: SignerServerOptions): Promise<SignerServer> {
  await removeStale(socketPath)
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    serveWhenOpen(signer, request).then(
      ([status, body]) => send(response, status, body),
      (error: unknown) => {
        log.error({ event: 'signer_failed', error: describeError(error) })
        send(response, 500, { error: 'the signer failed' })
      },
    )
  })
  server.listen(socketPath)
  await once(server, 'listening').catch((error: unknown) => {
    throw errorCode(error) === 'EADDRINUSE' ? inUse(socketPath) : error
  })
  await chmod(socketPath, ownerAndGroup)
  return {
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

type Reply = readonly [status: number, body: object]

async function serveWhenOpen(signer: Promise<FeePayerSigner>, request: IncomingMessage): Promise<Reply> {
  return serve(await signer, request)
}

async function serve(signer: FeePayerSigner, request: IncomingMessage): Promise<Reply> {
  const { method, url = '' } = request
  if (method === 'GET' && url === '/') {
    const whyClosed = signer.whyClosed()
    return [200, { address: signer.address, isOpen: whyClosed === undefined, whyClosed, day: signer.day() }]
  }
  const [, digest] = /^\/signatures\/([0-9a-f]{64})$/.exec(url) ?? []
  if (method === 'GET' && digest !== undefined) {
    const signature = signer.find(digest)
    return signature === undefined ? [404, {}] : [200, { signature }]
  }
  if (method !== 'POST' || url !== '/signatures') return [404, {}]
  const body = await readBody(request)
  return body === undefined ? [413, {}] : [200, await signer.sign(body)]
}

async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > bodyBytesMax) return undefined
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Removes the socket of a process that was killed. A missing one is left alone, because another signer may create it at this moment. */
async function removeStale(socketPath: string): Promise<void> {
  const socket = connect(socketPath)
  try {
    await once(socket, 'connect')
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') await rm(socketPath, { force: true })
    return
  } finally {
    socket.destroy()
  }
  throw inUse(socketPath)
}

function inUse(socketPath: string): Fault {
  return new Fault(`another signer listens on ${socketPath}; stop it first, or set another SIGNER_SOCKET`, {
    retryable: false,
  })
}
