import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AttackEnvironment } from './attacks.ts'

/** Environment of the attacks: the attacker's site, and canaries that count arrivals. */
export interface EgressEnvironment extends AsyncDisposable, AttackEnvironment {
  readonly addresses: ReadonlyMap<string, readonly string[]>
  /** Connections and datagrams that a canary has seen. */
  hits(): number
  /** The next answer of the attacker's site. */
  serve(answer: SiteAnswer): void
}

export interface SiteAnswer {
  readonly page: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

export interface EnvironmentOptions {
  /** Address of the attacker's site; port 0 is any. */
  readonly site: { readonly address: string; readonly port: number }
  readonly canaries: { readonly addresses: readonly string[]; readonly ports: readonly number[] }
  readonly secretFile: string
}

export const canaryText = 'canary-of-the-private-network'
const stunPort = 3478
// Keeps the page loading, so that what its scripts have begun is seen.
const slowMs = 300

export async function openEnvironment({ site, canaries, secretFile }: EnvironmentOptions): Promise<EgressEnvironment> {
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
  const attacker = createServer((request, response) =>
    serveSite({ request, response, answer, inside: `http://${privateHost}${port}/` }),
  )
  const sitePort = await listen(attacker, site.address, site.port)
  opened.defer(() => attacker.close().closeAllConnections())
  const disposables = opened.move()
  return {
    site: `http://attack.test${sitePort === 80 ? '' : `:${sitePort}`}`,
    privateHost,
    port,
    secretFile,
    addresses: addressesOf(site.address, privateHost),
    hits: () => hits,
    serve: (next) => void (answer = next),
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  }
}

function addressesOf(site: string, inside: string): ReadonlyMap<string, readonly string[]> {
  return new Map([
    ['attack.test', [site]],
    ['private.test', [inside]],
    ['mixed.test', [site, inside]],
    ['v6.test', ['::1']],
    ['mapped.test', [`::ffff:${inside}`]],
    ['nat64.test', ['64:ff9b::a00:1']],
    ['zero.test', ['0.0.0.0']],
    ['metadata.test', ['169.254.169.254']],
    ['rebind.test', [site]],
  ])
}

interface Serving {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly answer: SiteAnswer
  readonly inside: string
}

function serveSite({ request, response, answer, inside }: Serving): void {
  const path = request.url ?? ''
  if (path.startsWith('/redirect')) return void response.writeHead(302, { location: inside }).end()
  if (path === '/slow') return void setTimeout(() => response.end(), slowMs)
  if (path === '/worker.js')
    return void response
      .writeHead(200, { 'content-type': 'text/javascript' })
      .end(`fetch('${inside}?serviceworker',{mode:'no-cors'})`)
  if (path !== '/') return void response.writeHead(404).end()
  response.writeHead(answer.status ?? 200, { 'content-type': 'text/html', ...answer.headers })
  response.end(`${answer.page}<img src="/slow">`)
}

async function listen(server: ReturnType<typeof createServer>, address: string, port: number): Promise<number> {
  server.listen(port, address)
  await once(server, 'listening')
  const bound: AddressInfo | string | null = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('a canary listens on a port')
  return bound.port
}
