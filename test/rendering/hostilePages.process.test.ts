import { createServer } from 'node:https'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { assert, assertPresent } from '@tollbook/core/assert'
import { marginTemplate } from '../../src/products/page/marginText.ts'
import { openEgress } from '../../src/rendering/openEgress.ts'
import type { Buyer, Renderer } from '../../src/rendering/renderer.ts'
import { makeCertificate } from '../proofs/egress/certificate.ts'
import { afterFile } from '../support/afterFile.ts'
import { textOf } from './readPdf.ts'
import { openTestRenderer, startWeb } from './testRenderer.ts'

/* Pages and orders that are made to harm; the long ones are in `npm run proof pages -- --hostile`. */

const script = (code: string): string => `<h1>Page</h1><script>${code}</script>`
const pages: Readonly<Record<string, string>> = {
  '/popups': script('for (let n = 0; n < 100; n++) open("/")'),
  '/dialogs': script('for (let n = 0; n < 50; n++) alert(n)'),
  '/printer': script('close(); setInterval(print, 1)'),
  '/file': script('location = "file:///etc/passwd"'),
  '/longAddress': script('history.replaceState(null, "", "/" + "x".repeat(1e6))'),
  '/restless': script('location.replace("/restless?" + Math.random())'),
  '/blob': script('location = URL.createObjectURL(new Blob(["<h1>Blob</h1>"], { type: "text/html" }))'),
}
const asked: string[] = []
const { port } = await startWeb(({ url = '/' }, response) => {
  asked.push(url)
  response.setHeader('content-type', 'text/html')
  if (url === '/locked') response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' })
  if (url.startsWith('/around')) response.writeHead(302, { location: `/around?${asked.length}` })
  response.end(pages[url.replace(/\?.*/, '')] ?? '<h1>Log in</h1>')
})
const tls = createServer(makeCertificate(), (_request, response) => response.end('<h1>Untrusted</h1>')).listen(0)
await once(tls, 'listening')
const address = tls.address()
assert(typeof address === 'object' && address !== null, 'a server that listens has a port')
afterFile(() => void tls.close())

const allowHosts = [`site.test:${port}`, `site.test:${address.port}`]
const toLoopback = () => Promise.resolve(['127.0.0.1'])
const egress = openEgress({ allowHosts, rules: { resolve: toLoopback, resolveAllowed: toLoopback } })
const opened = await openTestRenderer({ egress, limits: { loadTimeoutMs: 2_000, jobsPerBrowserMax: 50 } })
const margin = { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' }
let payments = 0

function renderer(): Renderer {
  return assertPresent(opened, 'tests without a browser are skipped')
}

function buyer(): Buyer {
  return { payer: 'wallet', payment: `payment ${payments++}`, signal: new AbortController().signal }
}

function shoot(path: string) {
  const url = path.startsWith('/') ? `http://site.test:${port}${path}` : path
  return renderer().screenshot({ url, width: 640, height: 480, fullPage: false }, buyer())
}

const elsewhere = 'the page led elsewhere more than 20 times'
const around = 'the page could not be loaded: ERR_TOO_MANY_REDIRECTS'

describe.skipIf(opened === undefined)('a page that is made to harm', () => {
  test.each(['popups', 'dialogs', 'printer', 'file'])('is captured: %s', async (name) => {
    expect(await shoot(`/${name}`)).toMatchObject({ httpStatus: 200, finalUrl: `http://site.test:${port}/${name}` })
  })

  test('asks for a password and is captured as it is', async () => {
    expect(await shoot('/locked')).toMatchObject({ httpStatus: 401 })
  })

  test('has an address of a megabyte, of which the answer shows the beginning', async () => {
    const { finalUrl } = await shoot('/longAddress')
    expect(finalUrl).toHaveLength(2_048)
  })

  test.each([
    ['a blob', '/blob', { kind: 'unreachable', message: 'the page led to something that cannot be shown' }],
    ['it leads elsewhere without end', '/restless', { kind: 'unreachable', message: elsewhere, endsPayment: true }],
    ['it redirects without end', '/around', { kind: 'unreachable', message: around, endsPayment: false }],
    ['TLS that is not trusted', `https://site.test:${address.port}/`, { kind: 'unreachable' }],
  ])('is refused: %s', async (_what, target, failure) => {
    await expect(shoot(target)).rejects.toMatchObject({ name: 'RenderFailure', ...failure })
  })
})

test.skipIf(opened === undefined)(
  'margins of a document run and load nothing that the order or the title of the page has in it',
  async () => {
    const hostile = `<img src="http://site.test:${port}/picture.png"><script>document.title='run'</script>`
    const { bytes, refusedRequests } = await renderer().pdf(
      {
        page: { html: `<title>${hostile.replaceAll('<', '&lt;')}</title><p>text` },
        format: 'A4',
        margin,
        headerTemplate: marginTemplate(`H ${hostile}`),
        footerTemplate: marginTemplate('F {title} {url}'),
      },
      buyer(),
    )
    const text = await textOf(bytes)
    // In the header the text of the order, in the footer that of the page.
    expect(text.match(/<img src="http/g)).toHaveLength(2)
    expect(text).toContain("<script>document.title='run'</script>")
    expect([asked.includes('/picture.png'), refusedRequests]).toEqual([false, 0])
  },
)
