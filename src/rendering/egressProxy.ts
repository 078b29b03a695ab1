import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import { assert } from '@tollbook/core/assert'
import { pinnedLookup } from '../outbound/pinnedGet.ts'
import { type Target, targetOf } from '../outbound/urlGuard.ts'
import { type EgressRules, type EgressVerdict, judgeTarget } from '../outbound/egressRules.ts'

/**
 * Each job has one proxy on a separate port, which is closed when the job ends. The proxy resolves names itself and
 * connects only to checked addresses, so that a name server cannot return another address for the connection (decision
 * 0008).
 */
export interface EgressProxy {
  readonly proxyServer: string
  /** Undefined if no attempt to reach the host of this URL has failed, or if the last attempt succeeded. */
  troubleWith(url: string): EgressTrouble | undefined
  refusedCount(): number
  /** True if the job exceeded its byte limit, so that its connections were cut. */
  isOverdrawn(): boolean
  /**
   * Ends all requests and refuses new ones. A page that waits for a silent server then continues with its scripts,
   * fonts and `load` event.
   */
  finish(): void
  isFinished(): boolean
  /** Bytes in both directions together. A page is stalled if this count no longer changes. */
  bytesMoved(): number
  close(): Promise<void>
}

export type EgressTrouble = 'forbidden' | 'unreachable'

export interface EgressLimits {
  /** Bytes in both directions together. */
  readonly bytesMax: number
  readonly hostsMax: number
}

// Far above the needs of a typical page.
const egressLimits: EgressLimits = { bytesMax: 64 * 1024 * 1024, hostsMax: 300 }

const connectTimeoutMs = 8_000
const headerBytesMax = 64 * 1024
const socketsPerHostMax = 16

interface ProxyState {
  readonly rules: EgressRules
  readonly limits: EgressLimits
  readonly agent: Agent
  readonly verdicts: Map<string, Promise<EgressVerdict>>
  readonly troubles: Map<string, EgressTrouble>
  readonly sockets: Set<Duplex>
  bytes: number
  refused: number
  finished: boolean
}

export async function openEgressProxy(rules: EgressRules, limits: EgressLimits = egressLimits): Promise<EgressProxy> {
  const state: ProxyState = {
    rules,
    limits,
    agent: new Agent({ keepAlive: true, maxSockets: socketsPerHostMax }),
    verdicts: new Map(),
    troubles: new Map(),
    sockets: new Set(),
    bytes: 0,
    refused: 0,
    finished: false,
  }
  const server = createServer({ maxHeaderSize: headerBytesMax })
  server.on('connection', (socket) => track(state, socket))
  server.on('request', (incoming, outgoing) => {
    // Node refuses to forward some requests, for example for forbidden characters. Destroy only this exchange.
    forward(state, incoming, outgoing).catch(() => outgoing.destroy())
  })
  server.on('connect', (incoming, socket, head) => {
    tunnel(state, incoming, { socket, head }).catch(() => socket.destroy())
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    proxyServer: `http://127.0.0.1:${portOf(server)}`,
    troubleWith(url) {
      const target = targetOf(url)
      return target === undefined ? undefined : state.troubles.get(keyOf(target))
    },
    refusedCount: () => state.refused,
    isOverdrawn: () => state.bytes > limits.bytesMax,
    finish() {
      state.finished = true
      cut(state)
    },
    isFinished: () => state.finished,
    bytesMoved: () => state.bytes,
    close: () => close(server, state),
  }
}

function portOf(server: Server): number {
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'a server that listens has a port')
  return address.port
}

function close(server: Server, state: ProxyState): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  cut(state)
  return closed
}

function cut({ agent, sockets }: ProxyState): void {
  agent.destroy()
  for (const socket of sockets) socket.destroy()
}

function track({ sockets }: ProxyState, socket: Duplex): void {
  // A kept-alive connection serves several requests, so its socket may be tracked already.
  if (sockets.has(socket)) return
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  // The other end may close at any time. The code that waits for the answer handles a closed connection.
  socket.on('error', () => undefined)
}

function meter(state: ProxyState, stream: Readable): void {
  stream.on('data', (chunk: Buffer) => {
    state.bytes += chunk.length
    if (state.bytes > state.limits.bytesMax) cut(state)
  })
}

/**
 * Judges a target. It is checked once per job, and the whole job then uses the addresses of that check. New targets
 * beyond `hostsMax` count as unreachable.
 */
async function judge(state: ProxyState, target: Target): Promise<EgressVerdict> {
  const key = keyOf(target)
  const known = state.verdicts.get(key)
  const verdict = await (known ?? judgeAnew(state, target))
  // The job may have finished during the name lookup.
  if (state.finished) return { kind: 'unreachable' }
  if (verdict.kind !== 'reachable') return note(state, target, verdict.kind)
  return verdict
}

function judgeAnew({ verdicts, limits, rules }: ProxyState, target: Target): Promise<EgressVerdict> {
  if (verdicts.size >= limits.hostsMax) return Promise.resolve({ kind: 'unreachable' })
  const judged = judgeTarget(rules, target)
  verdicts.set(keyOf(target), judged)
  return judged
}

function note(state: ProxyState, target: Target, kind: EgressTrouble): EgressVerdict {
  // Do not record the failure if the job itself ended the connection, because then the server did not cause it.
  if (state.finished && kind === 'unreachable') return { kind }
  state.troubles.set(keyOf(target), kind)
  if (kind === 'forbidden') state.refused++
  return { kind }
}

function keyOf({ hostname, port }: Target): string {
  return `${hostname}:${port}`
}

/** Forwards a request. Replaces the Host header, so that the request reaches the host that was checked. */
async function forward(state: ProxyState, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const url = URL.parse(incoming.url ?? '')
  const target = url?.protocol === 'http:' ? targetOf(url.href) : undefined
  if (url === null || target === undefined) return refuse(outgoing, 'forbidden')
  const verdict = await judge(state, target)
  if (verdict.kind !== 'reachable') return refuse(outgoing, verdict.kind)
  const upstream = request({
    agent: state.agent,
    ...placeOf(target, verdict.addresses),
    method: incoming.method,
    path: `${url.pathname}${url.search}`,
    headers: { ...endToEnd(incoming.headers), host: url.host },
  })
  upstream.once('socket', (socket) => track(state, socket))
  upstream.once('response', (response) => {
    state.troubles.delete(keyOf(target))
    meter(state, response)
    relay(response, outgoing)
  })
  upstream.on('error', () => {
    if (outgoing.headersSent) outgoing.destroy()
    else {
      note(state, target, 'unreachable')
      refuse(outgoing, 'unreachable')
    }
  })
  outgoing.once('close', () => upstream.destroy())
  meter(state, incoming)
  incoming.pipe(upstream)
}

function relay(response: IncomingMessage, outgoing: ServerResponse): void {
  response.on('error', () => outgoing.destroy())
  try {
    outgoing.writeHead(response.statusCode ?? 0, endToEnd(response.headers))
    response.pipe(outgoing)
  } catch {
    // Close the connection, because Node reads a status such as 099 but refuses to write it.
    outgoing.destroy()
  }
}

// Headers that are valid for one connection only and are not forwarded (RFC 9110, 7.6.1), and the marker of this proxy.
const hopByHop = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-proxy-denied',
])

function endToEnd(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)))
}

const statusOf = { forbidden: '403 Forbidden', unreachable: '502 Bad Gateway' } as const

function refuse(outgoing: ServerResponse, kind: EgressTrouble): void {
  // The header helps people who debug. The job itself reads `troubleWith`.
  outgoing.writeHead(Number.parseInt(statusOf[kind], 10), { 'x-proxy-denied': kind, 'content-length': 0 }).end()
}

interface TunnelOpening {
  readonly socket: Duplex
  readonly head: Buffer
}

async function tunnel(
  state: ProxyState,
  { url = '' }: IncomingMessage,
  { socket, head }: TunnelOpening,
): Promise<void> {
  const target = /^[^/?#@\\\s]+:\d{1,5}$/.test(url) ? authorityOf(url) : undefined
  const verdict: EgressVerdict = target === undefined ? { kind: 'forbidden' } : await judge(state, target)
  if (target === undefined || verdict.kind !== 'reachable') {
    refuseTunnel(socket, verdict.kind === 'forbidden' ? 'forbidden' : 'unreachable')
    return
  }
  const far: Socket = connect(placeOf(target, verdict.addresses))
  track(state, far)
  far.setTimeout(connectTimeoutMs, () => far.destroy(new Error('no connection in time')))
  far.once('connect', () => {
    far.setTimeout(0)
    state.troubles.delete(keyOf(target))
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    far.write(head)
    meter(state, far)
    meter(state, socket)
    socket.pipe(far).pipe(socket)
  })
  far.on('error', () => {
    if (!far.connecting && far.bytesRead + far.bytesWritten > 0) return
    note(state, target, 'unreachable')
    refuseTunnel(socket, 'unreachable')
  })
  far.once('close', () => socket.destroy())
  socket.once('close', () => far.destroy())
}

/** Reads the target of a tunnel. Uses an `https:` URL, because an `http:` URL drops port 80, as if no port were given. */
function authorityOf(authority: string): Target | undefined {
  const port = Number(/:(\d+)$/.exec(authority)?.[1])
  const target = targetOf(`https://${authority}/`)
  return target === undefined || port > 65_535 ? undefined : { hostname: target.hostname, port }
}

function refuseTunnel(socket: Duplex, kind: EgressTrouble): void {
  socket.end(`HTTP/1.1 ${statusOf[kind]}\r\nx-proxy-denied: ${kind}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
}

/** Returns the options of a connection to one of the checked addresses. The name is not looked up a second time. */
function placeOf({ hostname, port }: Target, addresses: readonly string[]) {
  return { host: hostname.replace(/^\[|\]$/g, ''), port, lookup: pinnedLookup(addresses), autoSelectFamily: true }
}
