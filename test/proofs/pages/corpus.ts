import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PageOptions } from '../../../src/outbound/browser/renderer.ts'

/** A kind of page that is hard to capture, and what an honest capture of it says. */
export interface CorpusPage {
  readonly name: string
  readonly html: string
  readonly options?: PageOptions
  /** Reasons in `missing`; none means that the page is complete. */
  readonly missing?: readonly string[]
  /** The page is taller than a picture may be. */
  readonly clipped?: true
  /** Some characters have no font, on a machine without fonts for them; a machine with such fonts has none missing. */
  readonly mayLackGlyphs?: true
  /** Requests that a whole capture makes. */
  readonly fetches?: readonly string[]
}

const filler = '<p>Some text that fills the page.</p>'.repeat(80)
const late = (html: string, ms: number) =>
  `<div id="app"></div><script>setTimeout(async () => {
    await fetch('/data.json'); document.querySelector('#app').innerHTML = ${JSON.stringify(html)}
  }, ${ms})</script>`

export const corpus: readonly CorpusPage[] = [
  { name: 'static text', html: `<h1>Report</h1>${filler}` },
  {
    name: 'lazy image below the fold',
    html: `${filler}<img loading="lazy" src="/picture.png?lazy" width="80" height="80">`,
    fetches: ['/picture.png?lazy'],
  },
  {
    name: 'image loaded by an intersection observer',
    html: `${filler}<img id="i" width="80" height="80"><script>new IntersectionObserver(([e]) => { if (e.isIntersecting) i.src = '/picture.png?seen' }).observe(i)</script>`,
    fetches: ['/picture.png?seen'],
  },
  {
    name: 'list that grows twice while it is scrolled',
    html: `<div id="l">${filler}</div><script>let n = 0; addEventListener('scroll', async () => {
      if (n < 2 && scrollY + innerHeight > document.body.scrollHeight - 200) { n++; await fetch('/data.json'); l.insertAdjacentHTML('beforeend', ${JSON.stringify(filler)}) } })</script>`,
  },
  {
    name: 'infinite scroll',
    html: `<div id="l">${filler}</div><script>addEventListener('scroll', async () => {
      if (scrollY + innerHeight > document.body.scrollHeight - 200) { await fetch('/data.json'); l.insertAdjacentHTML('beforeend', ${JSON.stringify(filler)}) } })</script>`,
    missing: ['lazy_content'],
  },
  {
    name: 'web font',
    html: '<style>@font-face{font-family:w;src:url(/font.ttf)}h1{font-family:w}</style><h1>Web font</h1>',
    fetches: ['/font.ttf'],
  },
  { name: 'image that never arrives', html: '<h1>Page</h1><img src="/never?image">', missing: ['resources_pending'] },
  {
    name: 'font that never arrives',
    html: '<style>@font-face{font-family:w;src:url(/never?font)}h1{font-family:w}</style><h1>Page</h1>',
    missing: ['resources_pending'],
  },
  {
    name: 'script that never arrives',
    html: '<h1>Page</h1><script src="/never?script"></script><p>after',
    missing: ['resources_pending'],
  },
  {
    name: 'style sheet that never arrives',
    html: '<link rel="stylesheet" href="/never?sheet"><h1>Page</h1>',
    missing: ['resources_pending'],
  },
  {
    name: 'frame that never arrives',
    html: '<h1>Page</h1><iframe src="/never?frame"></iframe>',
    missing: ['resources_pending'],
  },
  { name: 'application that fetches after load', html: late('<h1>Loaded</h1>', 0), fetches: ['/data.json'] },
  {
    name: 'application that starts late, awaited by selector',
    html: late('<h1 id="ready">Loaded</h1>', 1_500),
    options: { waitFor: '#ready' },
    fetches: ['/data.json'],
  },
  {
    name: 'awaited element that never comes',
    html: '<h1>Page</h1>',
    options: { waitFor: '#ready' },
    missing: ['wait_not_met'],
  },
  {
    name: 'request that scripts repeat without end',
    html: `<h1>Page</h1><script>const again = () => fetch('/slow?' + Math.random()).finally(again); again()</script>`,
    missing: ['still_loading'],
  },
  {
    name: 'document that grows without end',
    html: '<h1>Page</h1><script>setInterval(() => document.body.append(document.createElement("p")), 20)</script>',
    missing: ['still_changing'],
  },
  { name: 'event stream', html: '<h1>Page</h1><script>new EventSource("/events")</script>' },
  {
    name: 'clock',
    html: '<h1 id="c">0</h1><script>setInterval(() => { c.firstChild.data = Date.now() }, 10)</script>',
  },
  {
    name: 'banner that is hidden',
    html: `<div class="banner" style="position:fixed;inset:auto 0 0;height:200px;background:gold">cookies?</div>${filler}`,
    options: { hide: '.banner' },
  },
  {
    name: 'page of 30,000 pixels',
    html: '<div style="height:30000px;background:linear-gradient(red,blue)"></div>',
    clipped: true,
  },
  {
    name: 'print style sheet',
    html: '<style>@page{size:A5}@media print{nav{display:none}}</style><nav>menu</nav><h1>Page</h1>',
  },
  { name: 'right to left', html: '<html dir="rtl"><h1>مرحبا بالعالم</h1><p>שלום עולם</p>' },
  { name: 'Greek and Cyrillic', html: '<h1>Καλημέρα κόσμε</h1><p>Привет, мир</p>' },
  {
    name: 'Chinese, Japanese, Korean',
    html: '<h1>你好，世界</h1><p>こんにちは</p><p>안녕하세요</p>',
    mayLackGlyphs: true,
  },
  { name: 'Hindi', html: '<h1>नमस्ते दुनिया</h1>', mayLackGlyphs: true },
  { name: 'emoji', html: '<h1>🦜 🚀 🧾</h1>', mayLackGlyphs: true },
  {
    name: 'canvas and SVG',
    html: `<canvas id="c" width="200" height="80"></canvas><svg width="80" height="80"><circle cx="40" cy="40" r="30"/></svg><script>c.getContext('2d').fillRect(5, 5, 90, 50)</script>`,
  },
  {
    name: 'dark mode',
    html: '<style>@media (prefers-color-scheme: dark){body{background:black;color:white}}</style><h1>Page</h1>',
    options: { colorScheme: 'dark' },
  },
]

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)
const fontFile = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSerif-Bold.ttf')
const slowMs = 300

export async function serveCorpus(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://corpus')
  if (pathname === '/never') return
  if (pathname === '/picture.png') response.writeHead(200, { 'content-type': 'image/png' }).end(picture)
  else if (pathname === '/font.ttf')
    response.writeHead(200, { 'content-type': 'font/ttf' }).end(await readFile(fontFile))
  else if (pathname === '/data.json') response.end('{}')
  else if (pathname === '/slow') setTimeout(() => response.end('{}'), slowMs)
  else if (pathname === '/events') response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
  else {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(`<!doctype html><meta charset="utf-8">${corpus[Number(pathname.slice(1))]?.html ?? 'no such page'}`)
  }
}
