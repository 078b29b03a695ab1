import type { RenderFailureKind } from '../../../src/rendering/renderer.ts'
import { type CorpusPage, type Ending, filler } from './corpusPage.ts'

const script = (code: string): string => `<h1>Page</h1><script>${code}</script>`
/** It stays open for as long as a page may. */
const forLong = (code: string): string => `${script(code)}<img src="/never">`

const complete: readonly Ending[] = [{ marks: [] }]
const pending: readonly Ending[] = [{ marks: ['resources_pending'] }]
const failed = (kind: RenderFailureKind, message: string): Ending => ({ kind, message, endsPayment: false })
const ended = (kind: RenderFailureKind, message: string): Ending => ({ kind, message, endsPayment: true })
const outOfTime = [
  ended('timeout', 'the page was not ready in time'),
  ended('timeout', 'the page did not load in time'),
  ended('timeout', 'the page did not answer in time'),
]
const tooManyRedirects = 'the page could not be loaded: ERR_TOO_MANY_REDIRECTS'
const noPage = 'there is no page to show: a download, or no content'
// A slow machine captures the page before it has gone so far.
const restless: readonly Ending[] = [
  ended('unreachable', 'the page led elsewhere more than 20 times'),
  { marks: ['still_changing'] },
  { marks: ['still_loading'] },
  { marks: ['still_loading', 'still_changing'] },
  ...outOfTime,
]
// A slow machine needs its whole time to fill the memory.
const outOfMemory = [
  ended('broken', 'the page used up its memory'),
  ended('broken', 'the page ended the browser'),
  ...outOfTime,
]

/**
 * Each is captured as it is, or refused with a reason that is documented; one that fails by its own doing ends its
 * payment. More than one ending is listed where the speed of the machine decides. None has a golden picture: what
 * counts is that it ends, and leaves neither a process nor a folder behind.
 */
export const hostilePages: readonly CorpusPage[] = [
  {
    name: 'a thousand pop-ups',
    html: script(`for (let n = 0; n < 1000; n++) open('/arrived?' + n)`),
    endings: complete,
  },
  { name: 'a thousand dialogs', html: script('for (let n = 0; n < 1000; n++) alert(n)'), endings: complete },
  {
    name: 'a thousand downloads',
    html: script(
      `const a = Object.assign(document.createElement('a'), { download: 'x', href: '/download' }); for (let n = 0; n < 1000; n++) a.click()`,
    ),
    endings: complete,
  },
  { name: 'calls for the printer without end', html: script('setInterval(print, 1)'), endings: complete },
  { name: 'window that closes itself', html: script('close(); top.close(); window.close()'), endings: complete },
  {
    name: 'top page of a blob',
    html: script(`location = URL.createObjectURL(new Blob(['<h1>Blob</h1>'], { type: 'text/html' }))`),
    endings: [failed('unreachable', 'the page led to something that cannot be shown')],
  },
  { name: 'top page of data', html: script(`location = 'data:text/html,<h1>Data</h1>'`), endings: complete },
  { name: 'top page of a file', html: script(`location = 'file:///etc/passwd'`), endings: complete },
  { name: 'top page of the browser', html: script(`location = 'chrome://version'`), endings: complete },
  {
    name: 'canvas of a thousand million pixels',
    html: script(
      `const c = document.createElement('canvas'); c.width = c.height = 32767; document.body.append(c); const d = c.getContext('2d'); d.fillRect(0, 0, 32767, 32767); d.getImageData(0, 0, 32767, 32767)`,
    ),
    endings: [{ marks: [], clipped: true }, { marks: ['too_wide'] }, ...complete, ...outOfMemory],
  },
  {
    name: 'style sheets that import each other without end',
    html: '<link rel="stylesheet" href="/css?0"><h1>Page</h1>',
    endings: pending,
  },
  {
    name: 'page of 200 MB',
    html: '/large',
    endings: [ended('too_large', 'the page fetches more than 64 MiB'), ...outOfMemory],
  },
  { name: 'page of 200 MB that was compressed', html: '/bomb', endings: outOfMemory },
  { name: 'page that arrives a byte at a time', html: '/drip', endings: pending },
  {
    name: 'page of 10,000 sheets',
    html: '<div style="break-after:page">Sheet</div>'.repeat(10_000),
    endings: [{ marks: [], clipped: true }, ...complete, ...outOfTime],
  },
  { name: 'page that goes elsewhere without end', html: '/restless', endings: restless },
  {
    name: 'page that refreshes itself',
    html: '/refresh',
    endings: restless,
  },
  { name: 'page that asks for a password', html: '/locked', endings: complete },
  { name: 'page in a frame of itself', html: '/frames', endings: [...pending, ...restless, ...outOfMemory] },
  {
    name: 'page that grows until memory is full',
    html: script(`const t = 'x'.repeat(1e6); for (;;) document.body.append(t + Math.random())`),
    endings: outOfMemory,
  },
  {
    name: 'database that grows without end',
    html: forLong(`indexedDB.open('x').onupgradeneeded = ({ target: { result: db } }) => {
      const store = db.createObjectStore('s')
      let n = 0
      const more = () => { store.put(new Uint8Array(2e7).fill(n), n++).onsuccess = more }
      more()
    }`),
    endings: [...pending, ...outOfMemory],
  },
  {
    name: 'blobs without end',
    html: forLong(`const all = []; setInterval(() => all.push(new Blob([new Uint8Array(5e7).fill(all.length)])), 20)`),
    endings: [...pending, ...outOfMemory],
  },
  {
    name: 'cache that grows without end',
    html: forLong(
      `caches.open('x').then(async (c) => { for (let n = 0; ; n++) await c.put('/' + n, new Response(new Uint8Array(2e7).fill(n))) })`,
    ),
    endings: [...pending, ...outOfMemory],
  },
  {
    name: 'memory of WebAssembly',
    html: script(
      `const all = []; for (;;) all.push(new Uint8Array(new WebAssembly.Memory({ initial: 16384 }).buffer).fill(1))`,
    ),
    endings: [...complete, ...pending, ...outOfMemory],
  },
  {
    name: 'address of a megabyte',
    html: script(`history.replaceState(null, '', '/' + 'x'.repeat(1e6))`),
    endings: complete,
  },
  { name: 'title of ten megabytes', html: script(`document.title = 'x'.repeat(1e7)`), endings: complete },
  {
    name: 'history without end',
    html: `${script('setInterval(() => history.pushState(0, 0, "?" + Math.random()), 1)')}${filler}`,
    endings: complete,
  },
  {
    name: 'questions without end',
    html: script(`for (let n = 0; n < 500; n++) { confirm(n); prompt(n, 'x'.repeat(1e5)) }`),
    endings: complete,
  },
  {
    name: 'page that must not be left',
    html: script(
      `addEventListener('beforeunload', (e) => { e.preventDefault(); alert(1); return 'stay' }); location = '/arrived'`,
    ),
    endings: complete,
  },
  { name: 'redirects of a server without end', html: '/around', endings: [failed('unreachable', tooManyRedirects)] },
  {
    name: 'two pages that lead to each other',
    html: script(`setTimeout(() => location.replace('/back?' + Math.random()), 1)`),
    endings: restless,
  },
  {
    name: 'a million elements',
    html: script(
      `for (let n = 0; n < 1000; n++) document.body.insertAdjacentHTML('beforeend', '<i>x</i>'.repeat(1000))`,
    ),
    endings: [...complete, { marks: [], clipped: true }, ...outOfMemory],
  },
  {
    name: 'elements within each other, 100,000 deep',
    html: script(
      `let e = document.body; for (let n = 0; n < 1e5; n++) e = e.appendChild(document.createElement('div'))`,
    ),
    endings: [...complete, ...outOfMemory],
  },
  {
    name: 'page of a million pixels',
    html: '<h1>Tall</h1><div style="height:1000000px;background:linear-gradient(red,blue)"></div>',
    endings: [{ marks: [], clipped: true }, { marks: ['lazy_content'] }, { marks: [] }],
  },
  {
    name: 'page of a thousand million pixels in width',
    html: '<h1>Wide</h1><div style="width:1000000000px;height:100px;background:red"></div>',
    endings: [{ marks: ['too_wide'] }, ...complete],
  },
  {
    name: 'messages of the console without end',
    html: forLong(
      `const t = 'x'.repeat(1e5); setInterval(() => { for (let n = 0; n < 200; n++) console.log(t, { n }) }, 1)`,
    ),
    endings: [...pending, ...outOfMemory],
  },
  {
    name: 'errors without end',
    html: forLong(`setInterval(() => { for (let n = 0; n < 200; n++) Promise.reject(new Error('x'.repeat(1e4))) }, 1)`),
    endings: [...pending, ...outOfMemory],
  },
  {
    name: 'requests without end',
    html: script(`setInterval(() => { for (let n = 0; n < 50; n++) fetch('/data.json?' + Math.random()) }, 1)`),
    endings: [{ marks: ['still_loading'] }, { marks: ['resources_pending', 'still_loading'] }, ...outOfMemory],
  },
  {
    name: 'workers without end',
    html: forLong(
      `const u = URL.createObjectURL(new Blob(['for(;;);'])); for (let n = 0; n < 200; n++) { new Worker(u); new SharedWorker(u, String(n)) }`,
    ),
    endings: [...pending, ...outOfMemory],
  },
  {
    name: 'frames that are opened and removed without end',
    html: forLong(
      `setInterval(() => { const f = document.createElement('iframe'); document.body.append(f); f.remove() }, 1)`,
    ),
    endings: [...pending, ...outOfMemory],
  },
  { name: 'breakpoint of a script', html: script('debugger; setInterval(() => { debugger }, 1)'), endings: complete },
  {
    name: 'document that is written again without end',
    html: script(
      `setInterval(() => { document.open(); document.write('<h1>Again</h1>' + Math.random()); document.close() }, 5)`,
    ),
    endings: [...complete, ...restless],
  },
  {
    name: 'picture that is replaced without end',
    html: '<h1>Page</h1><img src="/replaced">',
    endings: [...complete, ...pending],
  },
  {
    name: 'headers without end',
    html: '/headers',
    endings: [failed('unreachable', 'the server of the page cannot be reached'), ...outOfTime],
  },
  {
    name: 'answer that is not HTTP',
    html: '/garbage',
    endings: [failed('unreachable', 'the server of the page cannot be reached')],
  },
  { name: 'download in place of a page', html: '/download', endings: [failed('unreachable', noPage)] },
  { name: 'no content in place of a page', html: '/nothing', endings: [failed('unreachable', noPage)] },
  {
    name: 'every permission is asked for',
    html: script(
      `Notification.requestPermission(); navigator.geolocation.getCurrentPosition(() => 0); navigator.mediaDevices?.getUserMedia({ video: true }).catch(() => 0); document.documentElement.requestFullscreen().catch(() => 0); navigator.clipboard?.read().catch(() => 0); navigator.credentials?.get({ password: true }).catch(() => 0); showOpenFilePicker?.().catch(() => 0)`,
    ),
    endings: complete,
  },
  {
    name: 'regular expression without end',
    html: script(`/^(a+)+$/.test('a'.repeat(60) + 'b')`),
    endings: outOfTime,
  },
  {
    name: 'style that is computed without end',
    html: `<style>:has(:nth-child(2n + 1 of :not(:empty))) ~ * { color: red }</style>${'<b>x</b>'.repeat(20_000)}`,
    endings: [...complete, { marks: [], clipped: true }, ...outOfMemory],
  },
  {
    name: 'picture of SVG that refers to itself a thousand million times',
    html: `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><defs><g id="a0"><rect width="1" height="1"/></g>${Array.from({ length: 9 }, (_, n) => `<g id="a${n + 1}">${`<use href="#a${n}"/>`.repeat(10)}</g>`).join('')}</defs><use href="#a9"/></svg>`,
    endings: [...complete, ...outOfMemory],
  },
]
