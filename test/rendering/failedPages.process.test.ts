import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { openEgress } from '../../src/rendering/openEgress.ts'
import type { Buyer, Renderer } from '../../src/rendering/renderer.ts'
import { assertPresent } from '@tollbook/core/assert'
import { browsersOf, openTestRenderer, startWeb } from './testRenderer.ts'

/*
 * Pages that fail, hang or end their browser. Most of the time is the limit of a job or the start of a browser, so CI
 * runs it; `e2e/rendering.e2e.test.ts`, `egress`, `hostilePages` and `browserPool.unit.test.ts` are in `npm test`.
 */

const pages: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/': (_request, response) => response.end('<h1>hello</h1>'),
  '/204': (_request, response) => response.writeHead(204).end(),
  '/file': (_request, response) =>
    response.writeHead(200, { 'content-disposition': 'attachment', 'content-type': 'application/zip' }).end('x'),
  '/reset': (request) => request.socket.destroy(),
  '/garbage': (request) => request.socket.end('SSH-2.0-OpenSSH_9.2\r\n\r\n'),
  '/silent': () => undefined,
  '/hangingImage': (_request, response) => response.end('<h1>hello</h1><img src="/silent">'),
  '/hangingFont': (_request, response) =>
    response.end('<style>@font-face{font-family:x;src:url(/silent)}h1{font-family:x}</style><h1>hello</h1>'),
  '/hangingScript': (_request, response) => response.end('<h1>hello</h1><script src="/silent"></script><p>after'),
  '/hangingSheet': (_request, response) => response.end('<link rel="stylesheet" href="/silent"><h1>hello</h1>'),
  '/kills': (_request, response) => {
    if (killsLeft-- > 0) for (const pid of browsersOf(process.pid)) process.kill(pid, 'SIGKILL')
    response.end('<h1>hello</h1>')
  },
  '/slow': (_request, response) => void setTimeout(() => response.end('<h1>hello</h1>'), 500),
  '/busy': (_request, response) => response.end('<script>for(;;);</script>'),
  '/flood': (_request, response) => flood(response),
  '/loop': (_request, response) => response.writeHead(302, { location: '/loop' }).end(),
  '/toPrivate': (_request, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
  '/toPrivateTls': (_request, response) => response.writeHead(302, { location: 'https://10.0.0.1/' }).end(),
  '/toAnotherPort': (_request, response) => response.writeHead(302, { location: 'http://site.test:25/' }).end(),
  '/scriptToPrivate': (_request, response) => response.end('<script>location="http://10.0.0.1/"</script>'),
}

let killsLeft = 0

// In a comment, which costs the browser nothing: a slow machine must see the limit before the time of loading ends.
const chunk = Buffer.alloc(64 * 1024, 'x')
function flood(response: ServerResponse): void {
  if (!response.headersSent) response.write('<!--')
  while (response.write(chunk));
  response.once('drain', () => flood(response))
}

const { port } = await startWeb((request, response) => {
  const serve = pages[request.url?.split('?')[0] ?? ''] ?? pages['/']
  response.setHeader('content-type', 'text/html')
  serve?.(request, response)
})
const closed = await startWeb(() => undefined)
closed.stop()
const rules = {
  resolve: (name: string) => Promise.resolve(name === 'private.test' ? ['192.168.1.1'] : []),
  resolveAllowed: () => Promise.resolve(['127.0.0.1']),
}
const egress = openEgress({
  allowHosts: [`site.test:${port}`, `site.test:${closed.port}`],
  rules,
  limits: { bytesMax: 512 * 1024, hostsMax: 50 },
})
const limits = { loadTimeoutMs: 2_000, jobsPerBrowserMax: 15 }
const opened = await openTestRenderer({ egress, limits, jobTimeoutMs: 12_000 })
let payments = 0
const never = new AbortController().signal

function renderer(): Renderer {
  return assertPresent(opened, 'tests without a browser are skipped')
}

function buyer(signal: AbortSignal = never): Buyer {
  return { payer: 'wallet', payment: `payment ${payments++}`, signal }
}

function shoot(target: string, more: { readonly signal?: AbortSignal } = {}) {
  const url = target.startsWith('/') ? `http://site.test:${port}${target}` : target
  const order = { url, width: 640, height: 480, fullPage: false }
  return renderer().screenshot(order, buyer(more.signal))
}

describe.skipIf(opened === undefined)('a page', () => {
  test('of which one resource never arrives is captured on paper and as a picture, and says so', async () => {
    const captured = ['Image', 'Font', 'Script', 'Sheet'].flatMap((kind) => {
      const margin = { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' }
      const page = { url: `http://site.test:${port}/hanging${kind}` }
      return [shoot(`/hanging${kind}`), renderer().pdf({ page, format: 'A4', margin }, buyer())]
    })
    const missing = [{ reason: 'resources_pending', detail: expect.stringContaining('/silent') }]
    for (const rendered of await Promise.all(captured)) expect(rendered).toMatchObject({ missing })
  })
})

describe.skipIf(opened === undefined)('a job fails, and the next one works:', () => {
  const failures: readonly (readonly [what: string, target: string, kind: string])[] = [
    ['a name that is private', 'http://private.test/', 'forbidden'],
    ['TLS to a name that is private', 'https://private.test/', 'forbidden'],
    ['a redirect to a private address', '/toPrivate', 'forbidden'],
    ['a redirect to TLS at a private address', '/toPrivateTls', 'forbidden'],
    ['a script that leads to a private address', '/scriptToPrivate', 'forbidden'],
    ['a file of this machine', 'file:///etc/passwd', 'forbidden'],
    ['a port of another service', '/toAnotherPort', 'forbidden'],
    ['a page of the browser', 'chrome://version', 'unreachable'],
    ['a name that does not exist', 'http://nowhere.test/', 'unreachable'],
    ['a refused connection', `http://site.test:${closed.port}/`, 'unreachable'],
    ['a connection that is reset', '/reset', 'unreachable'],
    ['an answer that is not HTTP', '/garbage', 'unreachable'],
    ['an endless redirect', '/loop', 'unreachable'],
    ['a download', '/file', 'unreachable'],
    ['no content', '/204', 'unreachable'],
    ['more bytes than a job may fetch', '/flood', 'too_large'],
    ['a server that never answers', '/silent', 'timeout'],
    ['a script that never ends', '/busy', 'timeout'],
  ]
  test.each(failures)('%s', async (_what, target, kind) => {
    // A page that hangs by its own doing is not worth another attempt with the same payment.
    await expect(shoot(target)).rejects.toMatchObject({
      name: 'RenderFailure',
      kind,
      endsPayment: kind === 'timeout' || kind === 'too_large',
    })
    expect(await shoot('/')).toMatchObject({ httpStatus: 200 })
  })

  test('the caller who has gone', async () => {
    const gone = new AbortController()
    const shot = shoot('/silent', { signal: gone.signal })
    gone.abort()
    await expect(shot).rejects.toMatchObject({ kind: 'timeout' })
    expect(await shoot('/')).toMatchObject({ httpStatus: 200 })
  })

  test('the browser that ends with a page is replaced, and the page is repeated alone; a page that ends it again ends its payment', async () => {
    killsLeft = 1
    const [killed, beside] = await Promise.all([shoot('/kills'), shoot('/slow')])
    expect([killed.httpStatus, beside.httpStatus]).toEqual([200, 200])
    killsLeft = 2
    const message = 'the page ended the browser'
    await expect(shoot('/kills')).rejects.toMatchObject({ kind: 'broken', message, endsPayment: true })
    expect(await shoot('/')).toMatchObject({ httpStatus: 200 })
  })
})
