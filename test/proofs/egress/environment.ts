import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { AttackEnvironment } from './attacks.ts'
import { makeCertificate } from './certificate.ts'
import { startNameServer } from './nameServer.ts'
import { openerOf } from './socketOpener.ts'
import { createZone, lastAddresses } from './zone.ts'

/** Environment of the attacks: the attacker's site, and canaries that count arrivals. */
export interface EgressEnvironment extends AsyncDisposable, AttackEnvironment {
  /** Address that each kind of name leads to without a guard. */
  readonly addresses: ReadonlyMap<string, string>
  /** `address:port` of the attacker's name server. */
  readonly nameServer: string
  /** The whole machine asks this name server, the browser too. */
  readonly isSystemNameServer: boolean
  /** The attacker's site by its address, as an operator's own feed. */
  readonly siteByAddress: string
  /** Questions that came over TCP. */
  tcpQuestions(): number
  /** Connections and datagrams that a canary has seen. */
  hits(): number
  /** Connections to the attacker's site by the program that opened them; all zero if this is not watched. */
  readonly openers: Readonly<Record<'browser' | 'proxy' | 'unknown', number>>
  /** The next answer of the attacker's site. */
  serve(answer: SiteAnswer): void
}

export interface SiteAnswer {
  readonly page: string
  /** The page has one frame of another site, and this is the page in it. */
  readonly isFramed?: boolean
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

export interface EnvironmentOptions {
  /** Address of the attacker's site; port 0 is any. */
  readonly site: { readonly address: string; readonly port: number; readonly tlsPort: number }
  readonly canaries: { readonly addresses: readonly string[]; readonly ports: readonly number[] }
  readonly secretFile: string
  /** 53 makes it the name server of the whole network namespace; 0 is any. */
  readonly nameServerPort: number
  /** Look up which program opened each connection: slow, and for root. */
  readonly watchesOpeners?: boolean
}

export const canaryText = 'canary-of-the-private-network'
const stunPort = 3478
// Keeps the page loading, so that what its scripts have begun is seen.
const slowMs = 300

export async function openEnvironment({
  site,
  canaries,
  secretFile,
  nameServerPort,
  watchesOpeners = false,
}: EnvironmentOptions): Promise<EgressEnvironment> {
  await using opened = new AsyncDisposableStack()
  const [privateHost = ''] = canaries.addresses
  let hits = 0
  const ports: number[] = []
  for (const address of canaries.addresses)
    for (const port of canaries.ports) {
      // No connection serves two requests, so each way in is counted.
      const server = createServer((_request, response) => response.setHeader('connection', 'close').end(canaryText))
      server.on('connection', () => hits++)
      // One free port for all addresses where none is given.
      ports.push(await listen(server, address, port === 0 ? (ports[0] ?? 0) : port))
      opened.defer(() => server.close().closeAllConnections())
    }
  const udp = createSocket('udp4')
  udp.on('message', () => hits++)
  udp.bind(stunPort, privateHost)
  await once(udp, 'listening')
  opened.defer(() => void udp.close())

  let answer: SiteAnswer = { page: '' }
  const port = ports[0] === 80 ? '' : `:${ports[0]}`
  const openers = { browser: 0, proxy: 0, unknown: 0 }
  const serve = (request: IncomingMessage, response: ServerResponse) =>
    serveSite({ request, response, answer, inside: `${privateHost}${port}/` })
  const listening = async (attacker: ReturnType<typeof createServer>, wanted: number) => {
    if (watchesOpeners) attacker.on('connection', ({ remotePort }) => openers[openerOf(remotePort ?? 0)]++)
    opened.defer(() => attacker.close().closeAllConnections())
    return listen(attacker, site.address, wanted)
  }
  const sitePort = await listening(createServer(serve), site.port)
  const tlsPort = await listening(createTlsServer(makeCertificate(), serve), site.tlsPort)
  const places = { site: site.address, inside: privateHost }
  const names = opened.use(await startNameServer({ port: nameServerPort, answer: createZone(places) }))
  const disposables = opened.move()
  return {
    site: `http://attack.test${sitePort === 80 ? '' : `:${sitePort}`}`,
    tlsSite: `https://attack.test${tlsPort === 443 ? '' : `:${tlsPort}`}`,
    openers,
    privateHost,
    port,
    secretFile,
    siteByAddress: `http://${site.address}:${sitePort}`,
    addresses: lastAddresses(places),
    nameServer: names.address,
    isSystemNameServer: nameServerPort === 53,
    tcpQuestions: names.tcpCount,
    hits: () => hits,
    serve: (next) => void (answer = next),
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  }
}

interface Serving {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly answer: SiteAnswer
  readonly inside: string
}

function serveSite({ request, response, answer, inside }: Serving): void {
  const path = request.url ?? ''
  const secretSite = `${request.socket instanceof TLSSocket ? 'https' : 'http'}://${inside}`
  if (path.startsWith('/redirect')) return void response.writeHead(302, { location: secretSite }).end()
  if (path === '/slow') return void setTimeout(() => response.end(), slowMs)
  if (path === '/worker.js')
    return void response
      .writeHead(200, { 'content-type': 'text/javascript' })
      .end(`fetch('${secretSite}?serviceworker',{mode:'no-cors'})`)
  if (path === '/framed') return void response.setHeader('content-type', 'text/html').end(`${answer.page}${slow}`)
  if (path !== '/') return void response.writeHead(404).end()
  response.writeHead(answer.status ?? 200, { 'content-type': 'text/html', ...answer.headers })
  const port = request.headers.host?.split(':')[1]
  const frame = `<iframe src="http://frame.test${port === undefined ? '' : `:${port}`}/framed" width="900" height="300"></iframe>`
  response.end(`${answer.isFramed === true ? frame : answer.page}${slow}`)
}

const slow = '<img src="/slow">'

async function listen(server: ReturnType<typeof createServer>, address: string, port: number): Promise<number> {
  server.listen(port, address)
  await once(server, 'listening')
  const bound: AddressInfo | string | null = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('a canary listens on a port')
  return bound.port
}
