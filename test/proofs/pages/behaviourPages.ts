import { type CorpusPage, filler, withApp } from './corpusPage.ts'

/** Pages that ask, move, embed, or disturb. */
export const behaviourPages: readonly CorpusPage[] = [
  {
    name: 'clock',
    html: '<h1 id="c">0</h1><script>setInterval(() => { c.firstChild.data = Date.now() }, 10)</script>',
  },
  {
    name: 'clock of repeated timers',
    html: '<h1 id="c">0</h1><script>const tick = () => { c.firstChild.data = Date.now(); setTimeout(tick, 200) }; tick()</script>',
  },
  {
    name: 'carousel',
    html: `<div style="overflow:hidden;width:400px"><div id="t" style="display:flex;transition:transform .3s">${[1, 2, 3].map((n) => `<h1 style="flex:0 0 400px">Slide ${n}</h1>`).join('')}</div></div><script>let n = 0; setInterval(() => { n = (n + 1) % 3; t.style.transform = 'translateX(' + -400 * n + 'px)' }, 400)</script>`,
    moves: true,
    says: ['Slide 1'],
  },
  {
    name: 'endless animation',
    html: '<style>@keyframes r{to{rotate:1turn}}div{width:90px;height:90px;background:teal;animation:r 1s linear infinite}</style><div></div><h1>Spinning</h1>',
    moves: true,
    says: ['Spinning'],
  },
  {
    name: 'text that fades in',
    html: '<style>@keyframes f{from{opacity:0}}h1{animation:f .8s both}</style><h1>Faded in</h1>',
    says: ['Faded in'],
  },
  {
    name: 'dialogs at load',
    html: '<script>alert(1);confirm(2);prompt(3)</script><h1>After dialogs</h1>',
    says: ['After dialogs'],
  },
  {
    name: 'question before leaving',
    html: '<h1>Stay</h1><script>addEventListener("beforeunload", (e) => { e.preventDefault(); e.returnValue = "stay" })</script>',
    says: ['Stay'],
  },
  {
    name: 'dialog element and popover',
    html: '<h1>Behind</h1><dialog id="d">In the dialog</dialog><script>d.showModal()</script>',
    says: ['In the dialog'],
  },
  { name: 'call for the printer', html: '<h1>Printed</h1><script>print()</script>', says: ['Printed'] },
  {
    name: 'pop-ups',
    html: '<h1>Page</h1><script>for (let n = 0; n < 5; n++) open("/arrived?" + n)</script>',
    says: ['Page'],
  },
  {
    name: 'download that a script starts',
    html: '<h1>Page</h1><a id="a" href="/download" download>x</a><script>a.click()</script>',
    says: ['Page'],
  },
  {
    name: 'frame of the same site',
    html: '<h1>Outer</h1><iframe src="/arrived" width="400" height="120"></iframe>',
    fetches: ['/arrived'],
    says: ['Outer', 'Arrived'],
  },
  {
    name: 'frame of another site',
    html: '<h1>Outer</h1><script>document.write(`<iframe src="http://127.0.0.2:${location.port}/arrived" width="400" height="120"></iframe>`)</script>',
    fetches: ['/arrived'],
    says: ['Outer', 'Arrived'],
  },
  {
    name: 'frame with its own document',
    html: `<iframe width="400" height="120" srcdoc="<h1>Inner document</h1>"></iframe>`,
    says: ['Inner document'],
  },
  {
    name: 'frame whose content comes late',
    html: '<h1>Outer</h1><iframe src="/lateFrame" width="400" height="120"></iframe>',
    fetches: ['/data.json?frame'],
    says: ['Inner text'],
  },
  {
    name: 'open shadow root with slots',
    html: `<x-card><b>Slotted</b></x-card><script>customElements.define('x-card', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<h2>Card</h2><slot></slot>' } })</script>`,
    says: ['Card', 'Slotted'],
  },
  {
    name: 'declarative shadow root',
    html: '<div><template shadowrootmode="open"><h1>Declared</h1></template></div>',
    says: ['Declared'],
  },
  {
    name: 'service worker',
    html: withApp(`const show = (text) => { app.innerHTML = '<h1>' + text + '</h1>' }
      if ('serviceWorker' in navigator) navigator.serviceWorker.register('/sw.js').then(() => show('Registered'), () => show('Refused'))
      else show('Without a worker')`),
  },
  {
    name: 'storage and cookies',
    html: withApp(
      `localStorage.n = Number(localStorage.n ?? 0) + 1; document.cookie = 'a=b'; app.innerHTML = '<h1>Visit ' + localStorage.n + '</h1>'`,
    ),
    says: ['Visit 1'],
  },
  {
    name: 'position that is not given',
    html: withApp(
      `navigator.geolocation.getCurrentPosition(() => 0, ({ code }) => { app.innerHTML = '<h1>Refused ' + code + '</h1>' })`,
    ),
    says: ['Refused 1'],
  },
  {
    name: 'script that throws',
    html: '<h1>Before</h1><script>throw new Error("broken")</script><p>After the error',
    says: ['After the error'],
  },
  {
    name: 'script that replaces the document',
    html: '<h1>Old</h1><script>addEventListener("load", () => { document.open(); document.write("<h1>Written again</h1>"); document.close() })</script>',
    says: ['Written again'],
  },
  {
    name: 'full-screen layer over the text',
    html: `<div style="position:fixed;inset:0;background:#000c;color:white"><h1>Subscribe</h1></div>${filler}`,
    says: ['Subscribe'],
  },
  {
    name: 'page that changes what we use',
    html: '<h1>Hostile</h1><script>setTimeout = () => 0; Promise = undefined; document.getElementsByTagName = () => { throw 1 }; scrollTo = () => { throw 1 }</script>',
    says: ['Hostile'],
  },
  {
    name: 'element of 400 levels',
    html: `${'<div>'.repeat(400)}<h1>Deep</h1>${'</div>'.repeat(400)}`,
    says: ['Deep'],
  },
  {
    name: 'frameset',
    html: '</body><frameset cols="50%,50%"><frame src="/arrived?left"><frame src="/arrived?right"></frameset>',
    fetches: ['/arrived?left', '/arrived?right'],
  },
]
