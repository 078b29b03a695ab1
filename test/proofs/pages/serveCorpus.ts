import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { corpus } from './corpus.ts'

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)
const fontFile = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSerif-Bold.ttf')
const slowMs = 300
const html = (text: string): string => `<!doctype html><meta charset="utf-8">${text}`
const hugePicture = `<svg xmlns="http://www.w3.org/2000/svg" width="12000" height="9000"><rect width="12000" height="9000" fill="teal"/><circle cx="6000" cy="4500" r="3000" fill="gold"/></svg>`

type Serve = (response: ServerResponse) => void

const text =
  (type: string, body: string, headers: Readonly<Record<string, string>> = {}): Serve =>
  (response) =>
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, ...headers }).end(body)

const font: Serve = (response) =>
  void readFile(fontFile).then((bytes) => response.writeHead(200, { 'content-type': 'font/ttf' }).end(bytes))

const slowly =
  (serve: Serve): Serve =>
  (response) =>
    void setTimeout(() => serve(response), slowMs)

const served: Readonly<Record<string, Serve>> = {
  '/never': () => undefined,
  '/picture.png': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(picture),
  '/half.png': (response) =>
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': '5000' }).write(picture),
  '/huge.svg': text('image/svg+xml', hugePicture),
  '/font.ttf': font,
  '/slow.ttf': slowly(font),
  '/data.json': text('application/json', '{}'),
  '/slow': slowly(text('application/json', '{}')),
  '/events': (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n'),
  '/module.js': text('text/javascript', `import { say } from '/imported.js'; say()`),
  '/imported.js': text(
    'text/javascript',
    `export const say = () => { document.querySelector('#app').innerHTML = '<h1>From a module</h1>' }`,
  ),
  '/arrived': text('text/html', html('<h1>Arrived</h1>')),
  '/redirect': (response) => response.writeHead(302, { location: '/redirectAgain' }).end(),
  '/redirectAgain': (response) => response.writeHead(307, { location: '/arrived' }).end(),
  '/lateFrame': text(
    'text/html',
    html(
      `<p id="t">empty</p><script>fetch('/data.json?frame').then(() => fetch('/slow')).then(() => { t.textContent = 'Inner text' })</script>`,
    ),
  ),
  '/parts': (response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).write(html('<h1>The first part</h1>'))
    setTimeout(() => response.end('<h1>The last part</h1>'), slowMs)
  },
  '/compressed': (response) =>
    response
      .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
      .end(gzipSync(html('<h1>Compressed text</h1>'))),
  '/download': (response) =>
    response
      .writeHead(200, { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename=a.zip' })
      .end('PK'),
  '/large': (response) => flood(response.writeHead(200, { 'content-type': 'text/html' })),
  '/bomb': (response) =>
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(bomb()),
  '/drip': (response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).write(html('<h1>Page</h1>'))
    const dripping = setInterval(() => response.write('x'), dripMs)
    response.once('close', () => clearInterval(dripping))
  },
  '/restless': text(
    'text/html',
    html(`<h1>Restless</h1><script>setTimeout(() => { location = '/restless?' + Math.random() }, 30)</script>`),
  ),
  '/refresh': text('text/html', html('<meta http-equiv="refresh" content="0"><h1>Again</h1>')),
  '/locked': (response) =>
    response
      .writeHead(401, { 'content-type': 'text/html', 'www-authenticate': 'Basic realm="x"' })
      .end(html('<h1>Log in</h1>')),
  '/frames': text(
    'text/html',
    html(
      `<h1>Framed</h1><script>for (let n = 0; n < 5; n++) document.write('<iframe src="/frames?' + Math.random() + '"></iframe>')</script>`,
    ),
  ),
  '/around': (response) => response.writeHead(302, { location: `/around?${Math.random()}` }).end(),
  '/back': text(
    'text/html',
    html(`<h1>Back</h1><script>history.length > 3 ? location.replace('/restless') : history.back()</script>`),
  ),
  '/replaced': (response) => {
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=part' })
    const replacing = setInterval(() => {
      response.write(`--part\r\ncontent-type: image/png\r\ncontent-length: ${picture.length}\r\n\r\n`)
      response.write(picture)
    }, dripMs)
    response.once('close', () => clearInterval(replacing))
  },
  '/headers': (response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\n')
    const adding = setInterval(() => response.socket?.write(`x-${Math.random()}: ${'x'.repeat(1_000)}\r\n`), 1)
    response.once('close', () => clearInterval(adding))
  },
  '/garbage': (response) => void response.socket?.end('\u0000\u0001 this is not HTTP\r\n\r\n'),
  '/nothing': (response) => response.writeHead(204).end(),
  '/missing.png': (response) => response.writeHead(404).end(),
  '/sw.js': text('text/javascript', ''),
}

const dripMs = 100
const megabyte = Buffer.alloc(1_000_000, '<p>')
const largeBytes = 200 * megabyte.length

function flood(response: ServerResponse, left = largeBytes): void {
  if (left <= 0) return void response.end()
  response.write(megabyte, () => flood(response, left - megabyte.length))
}

function bomb(): Buffer {
  return gzipSync(Buffer.alloc(largeBytes, 'x'))
}

/** Path of a page; some are served by the server itself and not as text of the corpus. */
export function pathOf(nth: number): string {
  const own = corpus[nth]?.html ?? ''
  return own.startsWith('/') ? own : `/${nth}`
}

export function serveCorpus(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://corpus')
  if (pathname === '/css') return text('text/css', `@import "/css?${Number(search.slice(1)) + 1}";`)(response)
  const found = served[pathname]
  if (found !== undefined) return found(response)
  text('text/html', html(corpus[Number(pathname.slice(1))]?.html ?? 'no such page'))(response)
}
