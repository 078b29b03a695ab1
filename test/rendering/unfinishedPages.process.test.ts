import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { assertPresent } from '@tollbook/core/assert'
import { pictureSize } from '../../src/products/page/pictureSize.ts'
import { openEgress } from '../../src/rendering/openEgress.ts'
import type { Rendered } from '../../src/rendering/renderer.ts'
import { afterFile } from '../support/afterFile.ts'
import { rightmostOf, textOf } from './readPdf.ts'
import { openTestRenderer, startWeb } from './testRenderer.ts'

/* Pages that are not finished when they are loaded: they are waited for, and what is missing at the end is named. */

const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' })
sockets.on('connection', (socket, { url }) => {
  if (url === '/speaks') setTimeout(() => socket.send('said by a socket'), 300)
})
await once(sockets, 'listening')
afterFile(() => {
  for (const socket of sockets.clients) socket.terminate()
  sockets.close()
})
const address = sockets.address()
if (address === null || typeof address === 'string') throw new Error('it listens on a port')
const socketHost = `site.test:${address.port}`

const shows = `(text) => { document.body.innerHTML = '<h1>' + text + '</h1>' }`
const withScript = (script: string) => `<p>wait</p><script>const shows = ${shows}; ${script}</script>`
const canvas = (script: string) => `<canvas id="c" width="300" height="100"></canvas><script>
  const pen = c.getContext('2d'); let n = 0; const draw = () => { pen.fillRect(n, 0, 6, 100); n += 6 }; ${script}</script>`
const pages: Record<string, string> = {
  '/timer': withScript(`setTimeout(() => shows('late'), 5_000)`),
  '/clock': withScript(`const tick = () => { document.title = Date.now(); setTimeout(tick, 100) }; tick()`),
  '/reminder': withScript(`setTimeout(() => shows('still there?'), 60_000)`),
  '/silentSocket': withScript(`new WebSocket('ws://${socketHost}/silent')`),
  '/socket': withScript(`new WebSocket('ws://${socketHost}/speaks').onmessage = ({ data }) => shows(data)`),
  '/silentEvents': withScript(`new EventSource('/events/silent')`),
  '/events': withScript(`new EventSource('/events/speaks').onmessage = ({ data }) => shows(data)`),
  '/endlessCanvas': canvas(
    `const step = () => { if (n >= 300) { n = 0; pen.clearRect(0, 0, 300, 100) } draw(); requestAnimationFrame(step) }; step()`,
  ),
  '/canvas': canvas(`const step = () => { draw(); if (n < 300) requestAnimationFrame(step) }; step()`),
  '/drawnCanvas': canvas(`while (n < 300) draw()`),
  '/endless': '<div style="height:30000px">x</div>',
}
const serve: RequestListener = (request, response) => {
  const path = request.url ?? ''
  if (path.startsWith('/events/')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    if (path === '/events/speaks') setTimeout(() => response.write('data: said by a stream\n\n'), 300)
    return
  }
  response.writeHead(200, { 'content-type': 'text/html' }).end(pages[path] ?? '')
}
const { port } = await startWeb(serve)
const loopback = () => Promise.resolve(['127.0.0.1'])
const egress = openEgress({ allowHosts: [`site.test:${port}`, socketHost], rules: { resolveAllowed: loopback } })
const opened = await openTestRenderer({ egress })
const signal = new AbortController().signal
let payments = 0

const customer = () => ({ payer: 'wallet', payment: `payment ${payments++}`, signal })
const viewport = { width: 640, height: 480 }
const margin = { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' }

function shoot(path: string): Promise<Rendered> {
  const order = { url: `http://site.test:${port}${path}`, ...viewport, fullPage: false }
  return assertPresent(opened, 'tests without a browser are skipped').screenshot(order, customer())
}

function print(page: { readonly url: string } | { readonly html: string }): Promise<Rendered> {
  return assertPresent(opened, 'tests without a browser are skipped').pdf(
    { page, format: 'A4', margin, printableWidth: 718 },
    customer(),
  )
}

const reasonsOf = ({ missing }: Rendered) => missing.map(({ reason }) => reason)

const unfinished = {
  '/timer': ['timers_pending'],
  '/silentSocket': ['socket_silent'],
  '/silentEvents': ['socket_silent'],
  '/endlessCanvas': ['still_drawing'],
  // A clock, and a timer of a minute, which is a reminder, lack nothing.
  '/clock': [],
  '/reminder': [],
}

describe.skipIf(opened === undefined)('a page', () => {
  test('that waits for a timer, a socket or a canvas is captured, and the answer says so', async () => {
    const reasons = await Promise.all(
      Object.keys(unfinished).map(async (path) => [path, reasonsOf(await shoot(path))] as const),
    )
    expect(Object.fromEntries(reasons)).toEqual(unfinished)
  })

  test('has the text that a socket or a stream brings', async () => {
    const paths = ['/socket', '/events']
    const documents = await Promise.all(paths.map((path) => print({ url: `http://site.test:${port}${path}` })))
    const said = await Promise.all(documents.map(({ bytes }) => textOf(bytes)))
    expect([said, documents.map(reasonsOf)]).toEqual([
      ['said by a socket', 'said by a stream'],
      [[], []],
    ])
  })

  test('has the whole of a canvas that is drawn in frames', async () => {
    const [drawn, whole] = await Promise.all([shoot('/canvas'), shoot('/drawnCanvas')])
    expect(reasonsOf(drawn)).toEqual([])
    expect(Buffer.compare(drawn.bytes, whole.bytes)).toBe(0)
  })

  test('that is too long for webp is cut, and the answer says so', async () => {
    const order = {
      url: `http://site.test:${port}/endless`,
      width: 320,
      height: 480,
      fullPage: true,
      format: 'webp' as const,
    }
    const { bytes, clipped } = await assertPresent(opened, 'a browser').screenshot(order, customer())
    expect([pictureSize(bytes, 'webp'), clipped]).toEqual([{ width: 320, height: 16_383 }, true])
  })
})

const columns = (count: number) => Array.from({ length: count }, (_, nth) => `<td>column${nth}</td>`).join('')
const table = (count: number) => `<table border="1"><tr>${columns(count)}</tr></table><p>below</p>`

describe.skipIf(opened === undefined)('a document', () => {
  test.each([5, 14, 25])('of a table with %i columns has all of them on one sheet', async (count) => {
    const { bytes, missing } = await print({ html: table(count) })
    expect(missing).toEqual([])
    expect(await textOf(bytes)).toContain(`column${count - 1} below`)
    expect(await rightmostOf(bytes)).toBeLessThan(1)
  })

  test('of a table that would be too small to read says what is cut off', async () => {
    const rendered = await print({ html: table(200) })
    expect(reasonsOf(rendered)).toEqual(['too_wide'])
  })
})
