import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { type EgressLimits, type EgressProxy, openEgressProxy } from '../../src/rendering/egressProxy.ts'
import { createDeniedHosts } from '../../src/outbound/deniedHosts.ts'
import { createResolve, judgeTarget } from '../../src/outbound/egressRules.ts'
import { afterFile } from '../support/afterFile.ts'
import { startWeb } from './testRenderer.ts'

/* Raw bytes to the line, past everything that a browser would tidy up. */

let asked = 0
const names: Record<string, readonly string[]> = {
  'private.test': ['10.0.0.1'],
  'mixed.test': ['93.184.216.34', '10.0.0.1'],
  'mapped.test': ['::ffff:10.0.0.1'],
}
const rules = {
  allowHosts: [] as string[],
  denied: createDeniedHosts([]),
  ports: [80, 443],
  resolve(name: string): Promise<readonly string[]> {
    // The first answer is ours and the second is not.
    if (name === 'rebind.test') return Promise.resolve(asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1'])
    return Promise.resolve(names[name] ?? [])
  },
  resolveAllowed: (name: string) => rules.resolve(name === 'site.test' ? 'rebind.test' : name),
}
const web = await startWeb((request, response) => {
  if (request.url === '/headers') return response.end(JSON.stringify(request.headers))
  if (request.url === '/large') return response.end(Buffer.alloc(300_000, 'x'))
  return response.writeHead(200, { 'x-proxy-denied': 'forbidden', connection: 'x-hop', 'x-hop': '1' }).end('the site')
})
rules.allowHosts.push(`127.0.0.1:${web.port}`, `site.test:${web.port}`)
const site = `127.0.0.1:${web.port}`

async function openLine(limits?: EgressLimits): Promise<EgressProxy> {
  const line = await openEgressProxy(rules, limits)
  afterFile(() => line.close())
  return line
}
const line = await openLine()

async function say(raw: string, to = line): Promise<string> {
  const socket = connect(Number(new URL(to.proxyServer).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(raw)
  return text(socket)
}

const get = (url: string, more = '') => say(`GET ${url} HTTP/1.1\r\nHost: x\r\n${more}Connection: close\r\n\r\n`)
const tunnelTo = (authority: string) => say(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)

describe('is refused', () => {
  test.each([
    'http://10.0.0.1/',
    'http://0x0a000001/',
    'http://[::1]/',
    'http://private.test/',
    'http://mixed.test/',
    'http://mapped.test/',
    `http://127.0.0.1:${web.port + 1}/`,
    'http://93.184.216.34:22/',
    'https://127.0.0.1/',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    '/etc/passwd',
    '*',
    `http://10.0.0.1\\@${site}/`,
  ])('GET %s', async (url) => {
    expect(await get(url)).toMatch(/^(HTTP\/1.1 40[03] |$)/)
  })

  test.each([
    '10.0.0.1:443',
    '[::1]:443',
    '[::ffff:10.0.0.1]:443',
    '0:443',
    '2130706433:443',
    '127.1:80',
    'private.test:443',
    'mixed.test:443',
    '93.184.216.34:22',
    '93.184.216.34:65616',
    '93.184.216.34:99999',
    '93.184.216.34',
    `user@${site}`,
    `${site}/x`,
    `10.0.0.1:443#@${site}`,
    '[fe80::1%25lo]:443',
    ':443',
  ])('CONNECT %s', async (authority) => {
    expect(await tunnelTo(authority)).toMatch(/^(HTTP\/1.1 40[03] .*x-proxy-denied: forbidden|HTTP\/1.1 400|$)/s)
  })

  test('a second request on the connection of an allowed one', async () => {
    const raw = `GET http://${site}/ HTTP/1.1\r\nHost: x\r\n\r\nGET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
    const answer = await say(raw)
    expect(answer).toContain('the site')
    expect(answer).toMatch(/HTTP\/1.1 403 .*x-proxy-denied: forbidden/s)
  })

  test('a body of two lengths', async () => {
    const raw = `POST http://${site}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    expect(await say(raw)).not.toContain('the site')
  })
})

test('an allowed host is reached, by its own name and without what is between us and the browser', async () => {
  const answer = await get(
    `http://${site}/headers`,
    'Proxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nCookie: a=b\r\n',
  )
  const headers: unknown = JSON.parse(/\{.*\}/.exec(answer)?.[0] ?? '')
  expect(headers).toMatchObject({ host: site, cookie: 'a=b' })
  expect(headers).not.toHaveProperty('proxy-authorization')
  expect(headers).not.toHaveProperty('proxy-connection')
})

test('a site cannot say in our name that it was refused', async () => {
  const answer = await get(`http://${site}/`)
  expect(answer).toContain('the site')
  expect(answer).not.toContain('x-proxy-denied')
  expect(line.troubleWith(`http://${site}/`)).toBeUndefined()
})

test('a name is resolved once in the lifetime of a line, and the first result holds', async () => {
  const own = await openLine()
  for (let nth = 0; nth < 3; nth++)
    expect(
      await say(`GET http://site.test:${web.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, own),
    ).toContain('the site')
  expect(asked).toBe(1)
})

test('a line says what became of a target', async () => {
  await get('http://private.test/')
  await tunnelTo('private.test:443')
  await get('http://nowhere.test/')
  expect(['http', 'https'].map((scheme) => line.troubleWith(`${scheme}://private.test/x`))).toEqual([
    'forbidden',
    'forbidden',
  ])
  expect(line.troubleWith('http://nowhere.test/')).toBe('unreachable')
  expect(line.troubleWith('http://never.test/')).toBeUndefined()
})

test('a line is cut at the first byte too many', async () => {
  const own = await openLine({ bytesMax: 100_000, hostsMax: 5 })
  const answer = await say(`GET http://${site}/large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, own)
  expect(answer.length).toBeLessThan(300_000)
  expect(own.isOverdrawn()).toBe(true)
})

test('a page of too many hosts reaches no more of them', async () => {
  const own = await openLine({ bytesMax: 100_000, hostsMax: 5 })
  for (let nth = 0; nth < 6; nth++) await say(`CONNECT h${nth}.test:443 HTTP/1.1\r\nHost: x\r\n\r\n`, own)
  expect(await say(`GET http://${site}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, own)).not.toContain(
    'the site',
  )
})

test('closing ends requests in progress', async () => {
  const hanging = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(hanging, 'listening')
  const address = hanging.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  const own = await openEgressProxy({ ...rules, allowHosts: [`127.0.0.1:${port}`] })
  const arrived = once(hanging, 'request')
  const answer = say(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`, own)
  await arrived
  await own.close()
  expect(await answer).toBe('')
  hanging.close()
  hanging.closeAllConnections()
})

test('the real resolver knows nothing of a name that cannot exist, and says so', async () => {
  const verdict = await judgeTarget({ ...rules, resolve: createResolve() }, { hostname: 'localhost', port: 80 })
  expect(verdict.kind).not.toBe('reachable')
})
