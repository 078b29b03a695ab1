import { type CorpusPage, filler, withApp } from './corpusPage.ts'

const script = (code: string): string => `<h1>Page</h1><script>${code}</script>`
/** It stays open for as long as a page may. */
const forLong = (code: string): string => `${script(code)}<img src="/never">`

/** Pages that are made to harm: each is captured, or refused for a reason that is documented. */
export const hostilePages: readonly CorpusPage[] = [
  {
    name: 'a thousand pop-ups',
    html: script(`for (let n = 0; n < 1000; n++) open('/arrived?' + n)`),
    says: ['Page'],
  },
  { name: 'a thousand dialogs', html: script('for (let n = 0; n < 1000; n++) alert(n)'), says: ['Page'] },
  {
    name: 'a thousand downloads',
    html: script(
      `const a = Object.assign(document.createElement('a'), { download: 'x', href: '/download' }); for (let n = 0; n < 1000; n++) a.click()`,
    ),
    says: ['Page'],
  },
  { name: 'calls for the printer without end', html: script('setInterval(print, 1)'), says: ['Page'] },
  { name: 'window that closes itself', html: script('close(); top.close(); window.close()'), says: ['Page'] },
  {
    name: 'WebRTC and WebTransport',
    html: withApp(`app.innerHTML = '<h1>' + typeof RTCPeerConnection + ' ' + typeof WebTransport + '</h1>'`),
    says: ['undefined undefined'],
  },
  {
    name: 'top page of a blob',
    html: script(`location = URL.createObjectURL(new Blob(['<h1>Blob</h1>'], { type: 'text/html' }))`),
    fails: 'cannot be shown',
  },
  { name: 'top page of data', html: script(`location = 'data:text/html,<h1>Data</h1>'`), says: ['Page'] },
  { name: 'top page of a file', html: script(`location = 'file:///etc/passwd'`), says: ['Page'] },
  { name: 'top page of the browser', html: script(`location = 'chrome://version'`), says: ['Page'] },
  {
    name: 'canvas of a thousand million pixels',
    html: script(
      `const c = document.createElement('canvas'); c.width = c.height = 32767; document.body.append(c); const d = c.getContext('2d'); d.fillRect(0, 0, 32767, 32767); d.getImageData(0, 0, 32767, 32767)`,
    ),
  },
  {
    name: 'style sheets that import each other without end',
    html: '<link rel="stylesheet" href="/css?0"><h1>Page</h1>',
  },
  { name: 'page of 200 MB', html: '/large', fails: 'more than 64 MiB' },
  { name: 'page of 200 MB that was compressed', html: '/bomb' },
  { name: 'page that arrives a byte at a time', html: '/drip' },
  { name: 'page of 10,000 sheets', html: '<div style="break-after:page">Sheet</div>'.repeat(10_000) },
  { name: 'page that goes elsewhere without end', html: '/restless' },
  { name: 'page that refreshes itself', html: '/refresh' },
  { name: 'page that asks for a password', html: '/locked', says: ['Log in'] },
  { name: 'page in a frame of itself', html: '/frames', says: ['Framed'] },
  {
    name: 'page that grows until memory is full',
    html: script(`const t = 'x'.repeat(1e6); for (;;) document.body.append(t + Math.random())`),
  },
  {
    name: 'database that grows without end',
    html: forLong(`indexedDB.open('x').onupgradeneeded = ({ target: { result: db } }) => {
    const store = db.createObjectStore('s'); let n = 0
    const more = () => { store.put(new Uint8Array(2e7).fill(n), n++).onsuccess = more }
    more()
  }`),
    missing: ['resources_pending'],
  },
  {
    name: 'blobs without end',
    html: forLong(`const all = []; setInterval(() => all.push(new Blob([new Uint8Array(5e7).fill(all.length)])), 20)`),
    missing: ['resources_pending'],
  },
  {
    name: 'cache that grows without end',
    html: forLong(
      `caches.open('x').then(async (c) => { for (let n = 0; ; n++) await c.put('/' + n, new Response(new Uint8Array(2e7).fill(n))) })`,
    ),
    missing: ['resources_pending'],
  },
  {
    name: 'memory of WebAssembly',
    html: script(
      `const all = []; for (;;) all.push(new Uint8Array(new WebAssembly.Memory({ initial: 16384 }).buffer).fill(1))`,
    ),
  },
  {
    name: 'address of a megabyte',
    html: script(`history.replaceState(null, '', '/' + 'x'.repeat(1e6))`),
    says: ['Page'],
  },
  { name: 'title of ten megabytes', html: script(`document.title = 'x'.repeat(1e7)`), says: ['Page'] },
  {
    name: 'history without end',
    html: `${script('setInterval(() => history.pushState(0, 0, "?" + Math.random()), 1)')}${filler}`,
    says: ['Page'],
  },
]
