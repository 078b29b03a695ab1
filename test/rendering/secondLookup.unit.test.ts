import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { createDeniedHosts } from '../../src/outbound/deniedHosts.ts'
import { openEgressProxy } from '../../src/rendering/egressProxy.ts'
import { afterFile } from '../support/afterFile.ts'
import { startWeb } from './testRenderer.ts'

/* A name server that gives the check one address and the connection another (DNS rebinding). */

const web = await startWeb((_request, response) => response.end('the judged address'))
const host = `judged.invalid:${web.port}`

async function openLine() {
  const asked: string[] = []
  const line = await openEgressProxy({
    allowHosts: [host],
    denied: createDeniedHosts([]),
    ports: [80, 443],
    resolve: () => Promise.resolve([]),
    resolveAllowed(name) {
      asked.push(name)
      // No other resolver knows the name, and this one knows another address the second time.
      return Promise.resolve([asked.length === 1 ? '127.0.0.1' : '127.0.0.2'])
    },
  })
  afterFile(() => line.close())
  return { line, asked }
}

async function say(proxyServer: string, raw: string): Promise<string> {
  const socket = connect(Number(new URL(proxyServer).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(raw)
  return text(socket)
}

test('a plain request goes to the address that was judged; the name is resolved once', async () => {
  const { line, asked } = await openLine()
  const request = `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  expect(await say(line.proxyServer, request)).toContain('the judged address')
  expect(await say(line.proxyServer, request)).toContain('the judged address')
  expect(asked).toEqual(['judged.invalid'])
})

test('a tunnel goes to the address that was judged; the name is resolved once', async () => {
  const { line, asked } = await openLine()
  const inside = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  const reply = await say(line.proxyServer, `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n${inside}`)
  expect(reply).toContain('200 Connection Established')
  expect(reply).toContain('the judged address')
  expect(asked).toEqual(['judged.invalid'])
})
