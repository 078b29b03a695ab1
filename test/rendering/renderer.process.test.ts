import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openEgress } from '../../src/rendering/openEgress.ts'
import type { Buyer, Renderer } from '../../src/rendering/renderer.ts'
import { pageCount } from '../../src/products/page/pageCount.ts'
import { pictureSize } from '../../src/products/page/pictureSize.ts'
import { assertPresent } from '@tollbook/core/assert'
import { linksOf, paperOf, structureOf, textOf } from './readPdf.ts'
import { browsersOf, openTestRenderer, startWeb } from './testRenderer.ts'

const pages: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/': (_request, response) => response.end('<h1>hello</h1>'),
  '/rtl': (_request, response) => response.end('<html dir="rtl"><h1>hello</h1>'),
  '/long': (_request, response) => response.end('<div style="height:3000px">x</div>'),
  '/endless': (_request, response) => response.end('<div style="height:30000px">x</div>'),
  '/404': (_request, response) => response.writeHead(404).end('<h1>no such page</h1>'),
  '/500': (_request, response) => response.writeHead(500).end('<h1>we are down</h1>'),
  '/observe': (_request, response) => response.end(observe),
  '/said': (request, response) => {
    said = URL.parse(request.url ?? '', 'http://site.test')?.searchParams.get('what') ?? ''
    response.end()
  },
  '/parts': (_request, response) => response.end(parts),
  '/deep': (_request, response) => response.end(deep),
  '/paper': (_request, response) => response.end('<style>@page{size:300px 200px}</style>hello'),
  '/glyphs': (_request, response) =>
    response.end('<meta charset="utf-8"><p>ASCII, é, α and \u{11f04}\u{11f04}\u{11f05}'),
  '/lazy': (_request, response) => response.end(lazy),
  '/fading': (_request, response) =>
    response.end('<style>@keyframes f{from{opacity:0}}h1{animation:f 2s both}</style><h1>hello</h1>'),
  '/paused': (_request, response) =>
    response.end('<p>wait<script>setTimeout(() => { document.body.innerHTML = "<h1>shown late</h1>" }, 700)</script>'),
  '/scrollArea': (_request, response) =>
    response.end('<style>body{margin:0}</style><main style="height:100vh;overflow:auto"><div style="height:3000px">x'),
  '/virtualList': (_request, response) => response.end(virtualList),
  '/lazy.png': (_request, response) => {
    lazyAsked++
    response.writeHead(200, { 'content-type': 'image/png' }).end(redPixel)
  },
  '/storage': (request, response) => {
    const seen = request.headers.cookie ?? ''
    response.writeHead(200, { 'set-cookie': 'seen=1', 'content-type': 'text/html' })
    response.end(`<script>document.body ??= document.createElement('body')</script><p style="font-size:200px">${seen}`)
  },
}

let said = ''
/** The page tells its server what it sees. */
const observe = `<script>
const widthOf = (family) => {
  const context = document.createElement('canvas').getContext('2d')
  context.font = '20px ' + family
  return Math.round(context.measureText('mill iii').width)
}
const sees = {
  language: navigator.language,
  locale: Intl.NumberFormat().resolvedOptions().locale,
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  isDark: matchMedia('(prefers-color-scheme: dark)').matches,
  scale: devicePixelRatio,
  fonts: new Set(['serif', 'monospace', 'Arial'].map(widthOf)).size,
}
navigator.geolocation.getCurrentPosition(
  ({ coords }) => tell({ ...sees, latitude: coords.latitude }),
  () => tell(sees),
)
const tell = (what) => fetch('/said?what=' + encodeURIComponent(JSON.stringify(what)))
</script>`

const parts = `<body style="margin:0"><div id="banner" style="height:300px">cookies?</div>
<div id="part" style="width:100px;height:50px;background:teal"></div>
<script>setTimeout(() => {
  document.body.insertAdjacentHTML('beforeend', '<p id="late">late')
  fetch('/said?what=' + document.querySelector('#part').getBoundingClientRect().top)
}, 300)</script>`

const deep = `<style>body{margin:0}div{height:2000px}p{height:50px;margin:0;background:teal}</style>
<p id="top">top</p><div></div><p id="part">part</p><div></div>`

let lazyAsked = 0
const redPixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)
const lazy = '<div style="height:6000px">x</div><img loading="lazy" src="/lazy.png" width="50" height="50">'

const virtualList = `<div id="v" style="position:relative;height:4000px"></div><script>const draw = () => {
  v.innerHTML = ''
  for (let n = Math.floor(scrollY / 40); n < Math.min(100, (scrollY + innerHeight) / 40); n++)
    v.insertAdjacentHTML('beforeend', '<p style="position:absolute;margin:0;top:' + n * 40 + 'px">Item ' + n + '</p>')
}
addEventListener('scroll', draw); draw()</script>`

const { port } = await startWeb((request, response) => {
  const serve = pages[request.url?.split('?')[0] ?? ''] ?? pages['/404']
  response.setHeader('content-type', 'text/html')
  serve?.(request, response)
})
// Remains of a killed service.
const abandoned = await mkdtemp(join(tmpdir(), `tollbook-browser-${spawnSync('true').pid}-`))
const rules = {
  resolve: (name: string) => Promise.resolve(name === 'private.test' ? ['192.168.1.1'] : []),
  resolveAllowed: () => Promise.resolve(['127.0.0.1']),
}
const egress = openEgress({
  allowHosts: [`site.test:${port}`],
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

function buyer(): Buyer {
  return { payer: 'wallet', payment: `payment ${payments++}`, signal: never }
}

function shoot(target: string, more: { readonly fullPage?: boolean } = {}) {
  const url = target.startsWith('/') ? `http://site.test:${port}${target}` : target
  const order = { url, width: 640, height: 480, fullPage: more.fullPage ?? false }
  return renderer().screenshot(order, buyer())
}

describe.skipIf(opened === undefined)('a page', () => {
  test('is as large as it was asked for', async () => {
    const picture = await shoot('/')
    expect(pictureSize(picture.bytes, 'png')).toEqual({ width: 640, height: 480 })
    expect(picture).toMatchObject({ httpStatus: 200, missing: [], clipped: false, refusedRequests: 0 })
    // A page that fits is the same with and without fullPage; Chromium shifts right-to-left pages otherwise.
    const [plain, full] = await Promise.all([shoot('/rtl'), shoot('/rtl', { fullPage: true })])
    expect(Buffer.compare(plain.bytes, full.bytes)).toBe(0)
  })

  test('is as long as it is when all of it is asked for, and never longer than a picture may be', async () => {
    const long = await shoot('/long', { fullPage: true })
    expect(pictureSize(long.bytes, 'png').height).toBeGreaterThanOrEqual(3_000)
    expect(long.clipped).toBe(false)
    const endless = await shoot('/endless', { fullPage: true })
    expect(pictureSize(endless.bytes, 'png')).toEqual({ width: 640, height: 16_384 })
    expect(endless.clipped).toBe(true)
  })

  test.each([404, 500])('that says %i is a page', async (status) => {
    expect(await shoot(`/${status}`)).toMatchObject({ httpStatus: status })
  })

  test('sees a plain English browser with three kinds of fonts, or what the order asks for', async () => {
    await shoot('/observe')
    expect(JSON.parse(said)).toEqual({
      language: 'en-US',
      locale: 'en-US',
      timezone: 'UTC',
      isDark: false,
      scale: 1,
      fonts: 3,
    })
    const picture = await renderer().screenshot(
      {
        url: `http://site.test:${port}/observe`,
        width: 640,
        height: 480,
        fullPage: false,
        deviceScale: 2,
        locale: 'de-CH',
        timezone: 'europe/zurich',
        colorScheme: 'dark',
        geolocation: { latitude: 47, longitude: 8 },
      },
      buyer(),
    )
    expect(pictureSize(picture.bytes, 'png')).toEqual({ width: 1_280, height: 960 })
    const seen = { language: 'de-CH', locale: 'de-CH', timezone: 'Europe/Zurich', isDark: true, scale: 2 }
    expect(JSON.parse(said)).toMatchObject(seen)
  })

  test('is captured as the order asks: another format, one element, elements that are hidden or come late', async () => {
    const url = `http://site.test:${port}/parts`
    const order = { url, width: 640, height: 480, fullPage: false }
    const jpeg = await renderer().screenshot({ ...order, format: 'jpeg', quality: 50 }, buyer())
    expect(pictureSize(jpeg.bytes, 'jpeg')).toEqual({ width: 640, height: 480 })
    const part = { ...order, element: '#part', waitFor: '#late', hide: '#banner, .none' }
    const webp = await renderer().screenshot({ ...part, format: 'webp', deviceScale: 2 }, buyer())
    expect(pictureSize(webp.bytes, 'webp')).toEqual({ width: 200, height: 100 })
    // At the top, because the banner above it is hidden.
    expect(said).toBe('0')
    const absent = renderer().screenshot({ ...order, element: '#never' }, buyer())
    await expect(absent).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('#never') })
    const unreadable = renderer().screenshot({ ...order, hide: 'text/cookies' }, buyer())
    await expect(unreadable).rejects.toMatchObject({ message: expect.stringContaining('hide: text/cookies') })
  })

  test.each(['#part', '#top'])('is captured at the same element %s although its address scrolls', async (element) => {
    const order = { width: 640, height: 480, fullPage: false, element }
    const [plain, scrolled] = await Promise.all(
      ['', '#part'].map((fragment) =>
        renderer().screenshot({ ...order, url: `http://site.test:${port}/deep${fragment}` }, buyer()),
      ),
    )
    expect(pictureSize(assertPresent(scrolled, 'it is captured').bytes, 'png')).toEqual({ width: 640, height: 50 })
    expect(scrolled?.bytes).toEqual(plain?.bytes)
  })

  test('brings lazy content into view, and counts the characters that no font has', async () => {
    expect(await shoot('/lazy', { fullPage: true })).toMatchObject({ missing: [], missingGlyphs: 0 })
    expect(lazyAsked).toBe(1)
    expect(await shoot('/glyphs')).toMatchObject({ missingGlyphs: 2 })
  })

  test('that keeps content to itself when it is scrolled says so', async () => {
    const area = await shoot('/scrollArea', { fullPage: true })
    expect(area.missing.map(({ reason }) => reason)).toEqual(['scroll_area'])
    const list = await shoot('/virtualList', { fullPage: true })
    expect(list.missing.map(({ reason }) => reason)).toEqual(['unloaded_content'])
  })

  test('is shown as its animations leave it', async () => {
    const [still, faded] = await Promise.all([shoot('/'), shoot('/fading')])
    expect(Buffer.compare(still.bytes, faded.bytes)).toBe(0)
  })

  test('leaves nothing behind for the next caller', async () => {
    const first = await shoot('/storage')
    const second = await shoot('/storage')
    expect(Buffer.compare(first.bytes, second.bytes)).toBe(0)
  })
})

describe.skipIf(opened === undefined)('a document', () => {
  const margin = { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' }

  test('has the pages that the HTML has', async () => {
    const html = '<p>one</p><p style="page-break-before:always">two</p><p style="page-break-before:always">three</p>'
    const { bytes } = await renderer().pdf({ page: { html }, format: 'A5', margin }, buyer())
    expect(await pageCount(bytes)).toBe(3)
  })

  test('has the text that a page shows after a pause', async () => {
    const page = { url: `http://site.test:${port}/paused` }
    const { bytes, missing } = await renderer().pdf({ page, format: 'A5', margin }, buyer())
    expect([await textOf(bytes), missing]).toEqual(['shown late', []])
  })

  test('is made of Markdown, with its pictures and without its scripts, links to scripts and HTML', async () => {
    lazyAsked = 0
    const markdown = [
      '# Title',
      `![p](http://site.test:${port}/lazy.png) <script>document.body.innerHTML='run'</script>`,
      '<img src=x onerror="document.body.innerHTML=1">',
      'a <pre> <svg/onload=alert(1)>',
      '[one](javascript:alert(1)) [two](https://example.com/)',
      '| a | b |\n|---|---|\n| c | d |',
    ].join('\n\n')
    const { bytes, missing } = await renderer().pdf({ page: { markdown }, format: 'A5', margin }, buyer())
    const text = await textOf(bytes)
    for (const part of ['Title', '<script>', 'onerror=', 'svg/onload', 'a b', 'c d']) expect(text).toContain(part)
    expect(missing).toEqual([])
    expect(lazyAsked).toBe(1)
    expect(await linksOf(bytes)).toEqual(['https://example.com/'])
    const nothingOfOurs = await renderer().pdf(
      { page: { markdown: '![p](http://private.test/)' }, format: 'A5', margin },
      buyer(),
    )
    expect(nothingOfOurs).toMatchObject({ refusedRequests: 1 })
  })

  test('has the size of the @page rule when the order has no other', async () => {
    const page = { url: `http://site.test:${port}/paper` }
    const sized = await renderer().pdf({ page, format: 'A4', margin, preferCSSPageSize: true }, buyer())
    expect(await paperOf(sized.bytes)).toEqual([225, 150])
    const plain = await renderer().pdf({ page, format: 'A4', margin, landscape: true }, buyer())
    expect(await paperOf(plain.bytes)).toEqual([842, 596])
  })

  test('is tagged, and has bookmarks of its headings when the order asks for them', async () => {
    const page = { markdown: '# One\n\ntext\n\n# Two' }
    const order = { page, format: 'A5', margin } as const
    const [plain, outlined] = await Promise.all([
      renderer().pdf(order, buyer()),
      renderer().pdf({ ...order, outline: true }, buyer()),
    ])
    expect(await structureOf(plain.bytes)).toEqual({ bookmarks: [], isTagged: true })
    expect(await structureOf(outlined.bytes)).toEqual({ bookmarks: ['One', 'Two'], isTagged: true })
  })

  test('of HTML has nothing of this machine or its network in it', async () => {
    const html = `<iframe src="file:///etc/passwd"></iframe><img src="http://127.0.0.1:${port}/"><img src="http://10.0.0.1/">`
    const { refusedRequests } = await renderer().pdf({ page: { html }, format: 'A4', margin }, buyer())
    expect(refusedRequests).toBe(2)
  })

  test('is not made of HTML that leads to a private address', async () => {
    const html = '<meta http-equiv="refresh" content="0;url=http://10.0.0.1/">'
    await expect(renderer().pdf({ page: { html }, format: 'A4', margin }, buyer())).rejects.toMatchObject({
      kind: 'forbidden',
    })
  })
})

test.skipIf(opened === undefined)(
  'closing leaves no browser and no file, also not those of a killed service',
  async () => {
    await renderer().close()
    expect(browsersOf(process.pid)).toEqual([])
    expect(existsSync(abandoned)).toBe(false)
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`tollbook-browser-${process.pid}-`))).toEqual([])
  },
)
