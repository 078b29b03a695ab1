import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import { connect } from 'node:net'
import { readAddress } from '@tollbook/core/address'
import type { Clock } from '@tollbook/core/clock'
import { describeError, errorCode, Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { type FeePayerSigner, whySpent } from './feePayerSigner.ts'
import { isSocket, type SignerAddress, type SignerPort } from './signerAddress.ts'
import type { LamportLimits } from './signingRules.ts'
import { readTlsIdentity, type TlsIdentity } from './tlsIdentity.ts'

/**
 * Every process that may connect may spend the budgets: the processes of a group's members, or of the holders of a
 * certificate.
 */
export interface SignerServer {
  /** Undefined if the signer listens on a socket. */
  readonly port: number | undefined
  close(): Promise<void>
}

export interface SignerServerOptions {
  readonly address: SignerAddress
  readonly signer: FeePayerSigner
  readonly limits: LamportLimits
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Log
}

const ownerAndGroup = 0o660
// Maximum bytes of a body, which is a transaction of at most 1,232 bytes.
const bodyBytesMax = 2_048
const requestTimeoutMs = 5_000
// Milliseconds for which an idle connection stays open.
const keepAliveTimeoutMs = 60_000
// Interval in milliseconds for reading renewed certificates, so that a renewal needs no restart.
const renewEveryMs = 60_000
const limitsOfServer = { requestTimeout: requestTimeoutMs, keepAliveTimeout: keepAliveTimeoutMs }

/** A Unix socket is open to its owner and group, and a port to holders of a certificate. */
export async function openSignerServer(options: SignerServerOptions): Promise<SignerServer> {
  const { address } = options
  const answer = (request: IncomingMessage, response: ServerResponse) => void answerRequest(options, request, response)
  if (!isSocket(address)) return openPort(options, address, answer)
  const { socketPath } = address
  await removeStale(socketPath)
  const server = createServer(limitsOfServer, answer)
  server.listen(socketPath)
  await once(server, 'listening').catch((error: unknown) => {
    throw errorCode(error) === 'EADDRINUSE' ? inUse(socketPath) : error
  })
  await chmod(socketPath, ownerAndGroup)
  return { port: undefined, close: () => closeServer(server) }
}

async function openPort(
  { clock, log }: SignerServerOptions,
  { host, port, tls }: SignerPort,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<SignerServer> {
  const identity = await readTlsIdentity(tls, clock.nowMs())
  const server = createTlsServer(
    {
      ...limitsOfServer,
      ...contextOf(identity),
      requestCert: true,
      rejectUnauthorized: true,
      handshakeTimeout: requestTimeoutMs,
    },
    answer,
  )
  server.on('tlsClientError', (error) => {
    // Do not log a reset, because a health check connects and closes the connection.
    if (errorCode(error) === 'ECONNRESET') return
    log.warn({ event: 'signer_client_refused', error: describeError(error) })
  })
  server.listen(port, host)
  await once(server, 'listening').catch((error: unknown) => {
    throw new Fault(`SIGNER_LISTEN: ${host}:${port} cannot be listened on`, { cause: error, retryable: false })
  })
  const renewing = setInterval(() => void renew(server), renewEveryMs)
  async function renew(running: TlsServer): Promise<void> {
    try {
      running.setSecureContext(contextOf(await readTlsIdentity(tls, clock.nowMs())))
    } catch (error) {
      // Keep the current certificate. A file that is being replaced will be complete at the next interval.
      log.warn({ event: 'signer_certificate_unusable', error: describeError(error) })
    }
  }
  const listening = server.address()
  return {
    port: typeof listening === 'object' ? listening?.port : undefined,
    async close() {
      clearInterval(renewing)
      await closeServer(server)
    },
  }
}

function contextOf({ cert, key, ca }: TlsIdentity) {
  return { cert, key, ca, minVersion: 'TLSv1.3' } as const
}

async function closeServer(server: Server | TlsServer): Promise<void> {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}

async function answerRequest(
  options: SignerServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const [status, body] = await serve(options, request)
    send(response, status, body)
  } catch (error) {
    options.log.error({ event: 'signer_failed', error: describeError(error) })
    send(response, 500, { error: 'the signer failed' })
  }
}

type Reply = readonly [status: number, body: object]

async function serve({ signer, limits }: SignerServerOptions, request: IncomingMessage): Promise<Reply> {
  const { method, url = '' } = request
  const { pathname, searchParams } = new URL(url, 'http://signer')
  if (method === 'GET' && pathname === '/') return [200, await statusOf(signer, limits)]
  const [, digest, outcome] = /^\/signatures\/([0-9a-f]{64})(?:\/(failed|absent))?$/.exec(pathname) ?? []
  if (method === 'GET' && digest !== undefined && outcome === undefined) {
    const wallet = readAddress(searchParams.get('wallet') ?? '')
    return wallet === undefined ? [400, {}] : [200, await signer.find({ digest, wallet })]
  }
  if (method === 'POST' && digest !== undefined && (outcome === 'failed' || outcome === 'absent')) {
    await signer.recordOutcome(digest, outcome)
    return [200, {}]
  }
  if (method !== 'POST' || pathname !== '/signatures') return [404, {}]
  const [held, asOf] = [searchParams.get('held') ?? '', searchParams.get('asOf') ?? '']
  if (!isU64.test(held) || !isTime.test(asOf)) return [400, {}]
  const body = await readBody(request)
  return body === undefined ? [413, {}] : [200, await signer.sign(body, { heldBaseUnits: BigInt(held), asOf })]
}

const isU64 = /^\d{1,20}$/
const isTime = /^\d{4}-\d\d-\d\dT[\d:.]{15}Z$/

/** If the journal cannot be read, the signer is closed, and the log contains the error. */
async function statusOf({ address, day: readDay }: FeePayerSigner, limits: LamportLimits): Promise<object> {
  try {
    const day = await readDay()
    const whyClosed = whySpent(day, limits)
    const { lamports, leftLamports } = day
    const sent = { lamports: Number(lamports), leftLamports: Number(leftLamports) }
    return { address, isOpen: whyClosed === undefined, whyClosed, day: sent }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { address, isOpen: false, whyClosed: 'the journal of the signer cannot be read' }
  }
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

/**
 * Removes the socket that a killed process has left behind. Throws if another signer uses the socket. If there is none,
 * removes nothing, because another signer may be creating it.
 */
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
