import { type CorpusPage, filler } from './corpusPage.ts'

const script = (code: string): string => `<h1>Page</h1><script>${code}</script>`
/** It stays open for as long as a page may. */
const forLong = (code: string): string => `${script(code)}<img src="/never">`

const complete = ['complete']
const pending = ['marked resources_pending']
const refused = (why: string): string => `not captured: ${why}`
const outOfTime = [
  refused('the page was not ready in time'),
  refused('the page did not load in time'),
  refused('the page did not answer in time'),
]
const restless = [
  'marked still_loading, still_changing',
  'marked still_changing',
  'marked still_loading',
  'complete',
  refused('the page could not be rendered'),
  ...outOfTime,
]
const outOfMemory = [refused('the page used up its memory'), refused('the page ended the browser'), ...outOfTime]

/**
 * Each is captured as it is, or refused with a reason that is documented. None has a golden picture: what counts is that
 * it ends, and leaves neither a process nor a folder behind.
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
    endings: [refused('the page led to something that cannot be shown')],
  },
  { name: 'top page of data', html: script(`location = 'data:text/html,<h1>Data</h1>'`), endings: complete },
  { name: 'top page of a file', html: script(`location = 'file:///etc/passwd'`), endings: complete },
  { name: 'top page of the browser', html: script(`location = 'chrome://version'`), endings: complete },
  {
    name: 'canvas of a thousand million pixels',
    html: script(
      `const c = document.createElement('canvas'); c.width = c.height = 32767; document.body.append(c); const d = c.getContext('2d'); d.fillRect(0, 0, 32767, 32767); d.getImageData(0, 0, 32767, 32767)`,
    ),
    endings: ['complete, clipped', ...complete, ...outOfMemory],
  },
  {
    name: 'style sheets that import each other without end',
    html: '<link rel="stylesheet" href="/css?0"><h1>Page</h1>',
    endings: pending,
  },
  { name: 'page of 200 MB', html: '/large', endings: [refused('the page fetches more than 64 MiB'), ...outOfMemory] },
  { name: 'page of 200 MB that was compressed', html: '/bomb', endings: outOfMemory },
  { name: 'page that arrives a byte at a time', html: '/drip', endings: pending },
  {
    name: 'page of 10,000 sheets',
    html: '<div style="break-after:page">Sheet</div>'.repeat(10_000),
    endings: ['complete, clipped', ...complete, ...outOfTime],
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
]
