import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { pageCount } from '../../src/products/page/pageCount.ts'
import { pictureSize } from '../../src/products/page/pictureSize.ts'
import { openEgress } from '../../src/rendering/openEgress.ts'
import { textOf } from './readPdf.ts'
import { openTestRenderer, startWeb } from './testRenderer.ts'

/* A sample of what a page can be captured as; the rest is in `renderer.process.test.ts` and `unfinishedPages.process.test.ts`. */

const content = `<style>body{margin:0}</style><div style="height:2000px">content</div>`
const header = '<header style="position:fixed;inset:0 0 auto;height:40px;background:teal">Header</header>'
const banner = '<aside style="position:fixed;inset:auto 0 0;height:150px;background:gold">Cookies</aside>'
// The page tells its server what it sees.
const parts = `<body style="margin:0"><div id="banner" style="height:300px">cookies?</div>
<div id="part" style="width:100px;height:50px;background:teal"></div>
<script>setTimeout(() => {
  document.body.insertAdjacentHTML('beforeend', '<p id="late">late')
  fetch('/said?what=' + JSON.stringify({
    top: document.querySelector('#part').getBoundingClientRect().top,
    isDark: matchMedia('(prefers-color-scheme: dark)').matches,
    language: navigator.language,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }))
}, 300)</script>`
const unfinished = `<style>body{margin:0}</style><main style="height:100vh;overflow:auto"><div style="height:3000px">x</div></main>
<script>new EventSource('/silent'); setTimeout(() => { document.title = 'late' }, 5_000)</script>`
let said = ''
const web = await startWeb((request, response) => {
  if (request.url === '/silent') return response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  response.setHeader('content-type', 'text/html')
  if (request.url === '/parts') return response.end(parts)
  if (request.url === '/unfinished') return response.end(unfinished)
  if (request.url?.startsWith('/said') === true) said = new URL(urlOf(request.url)).searchParams.get('what') ?? ''
  response.end(`<!doctype html>${header}${content}${request.url === '/banner' ? banner : ''}`)
})
const opened = await openTestRenderer({ egress: openEgress({ allowHosts: [`127.0.0.1:${web.port}`] }) })
const margin = { top: '0', right: '0', bottom: '0', left: '0' }
const customer = (payment: string) => ({ payer: 'wallet', payment, signal: new AbortController().signal })
const urlOf = (path: string) => `http://127.0.0.1:${web.port}${path}`

test.skipIf(opened === undefined)(
  'a banner at the bottom of the window covers no content of a whole page',
  async () => {
    const renderer = assertPresent(opened, 'a browser runs')
    const heights = ['/', '/banner'].map(async (path) => {
      const order = { url: urlOf(path), width: 640, height: 480, fullPage: true }
      return pictureSize((await renderer.screenshot(order, customer(path))).bytes, 'png').height
    })
    // In the flow of the page, where it is written, and no longer over the text.
    expect(await Promise.all(heights)).toEqual([2_000, 2_150])
  },
)

test.skipIf(opened === undefined)('banners are on one sheet of a document, and not over the text of each', async () => {
  const renderer = assertPresent(opened, 'a browser runs')
  const order = { page: { url: urlOf('/banner') }, format: 'A5', margin } as const
  const { bytes } = await renderer.pdf(order, customer('document'))
  expect(await pageCount(bytes)).toBeGreaterThan(2)
  expect((await textOf(bytes)).match(/Header|Cookies/g)).toEqual(['Header', 'Cookies'])
})

test.skipIf(opened === undefined)(
  'a page is captured as the order asks: its element, hidden and late elements, scale, colours and place',
  async () => {
    const order = {
      url: urlOf('/parts'),
      width: 640,
      height: 480,
      fullPage: false,
      format: 'webp',
      deviceScale: 2,
      element: '#part',
      waitFor: '#late',
      hide: '#banner',
      colorScheme: 'dark',
      locale: 'de-CH',
      timezone: 'europe/zurich',
    } as const
    const { bytes } = await assertPresent(opened, 'a browser runs').screenshot(order, customer('parts'))
    expect(pictureSize(bytes, 'webp')).toEqual({ width: 200, height: 100 })
    // At the top, because the banner above it is hidden.
    expect(JSON.parse(said)).toEqual({ top: 0, isDark: true, language: 'de-CH', timezone: 'Europe/Zurich' })
  },
)

test.skipIf(opened === undefined)('the answer names what a page lacks: a timer, a silent stream, an area', async () => {
  const order = { url: urlOf('/unfinished'), width: 640, height: 480, fullPage: true }
  const { missing } = await assertPresent(opened, 'a browser runs').screenshot(order, customer('unfinished'))
  expect(missing.map(({ reason }) => reason).toSorted()).toEqual(['scroll_area', 'socket_silent', 'timers_pending'])
})
