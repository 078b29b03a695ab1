import { type CorpusPage, filler, late, withApp } from './corpusPage.ts'

/** Pages whose content arrives late, in parts, or never. */
export const loadingPages: readonly CorpusPage[] = [
  { name: 'static text', html: `<h1>Report</h1>${filler}`, says: ['Report'] },
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
    says: ['after'],
  },
  {
    name: 'style sheet that never arrives',
    html: '<link rel="stylesheet" href="/never?sheet"><h1>Page</h1>',
    missing: ['resources_pending'],
    says: ['Page'],
  },
  {
    name: 'frame that never arrives',
    html: '<h1>Page</h1><iframe src="/never?frame"></iframe>',
    missing: ['resources_pending'],
  },
  {
    name: 'image that stops in the middle',
    html: '<h1>Page</h1><img src="/half.png" width="90" height="90">',
    missing: ['resources_pending'],
  },
  {
    name: 'video that never arrives',
    html: '<h1>Page</h1><video src="/never?video" poster="/picture.png"></video>',
    missing: ['resources_pending'],
  },
  { name: 'image that does not exist', html: '<h1>Page</h1><img src="/missing.png" alt="a parrot">', says: ['parrot'] },
  {
    name: 'web font',
    html: '<style>@font-face{font-family:w;src:url(/font.ttf)}h1{font-family:w}</style><h1>Web font</h1>',
    fetches: ['/font.ttf'],
    says: ['Web font'],
  },
  {
    name: 'web font that swaps in late',
    html: '<style>@font-face{font-family:w;font-display:swap;src:url(/slow.ttf)}h1{font-family:w}</style><h1>Web font</h1>',
    fetches: ['/slow.ttf'],
  },
  {
    name: 'web font that a script loads',
    html: withApp(
      `new FontFace('w', 'url(/font.ttf)').load().then((f) => { document.fonts.add(f); app.innerHTML = '<h1 style="font-family:w">Loaded face</h1>' })`,
    ),
    fetches: ['/font.ttf'],
    says: ['Loaded face'],
  },
  {
    name: 'application that fetches after load',
    html: late('<h1>Loaded</h1>', 0),
    fetches: ['/data.json'],
    says: ['Loaded'],
  },
  {
    name: 'application that fetches three times in a row',
    html: withApp(
      `(async () => { for (let n = 1; n <= 3; n++) { await fetch('/slow?' + n); app.insertAdjacentHTML('beforeend', '<h2>Part ' + n + '</h2>') } })()`,
    ),
    says: ['Part 3'],
  },
  {
    name: 'application that starts late, awaited by selector',
    html: late('<h1 id="ready">Loaded</h1>', 1_500),
    options: { waitFor: '#ready' },
    fetches: ['/data.json'],
    says: ['Loaded'],
  },
  { name: 'application that starts late', html: late('<h1>Late start</h1>', 1_500), says: ['Late start'] },
  {
    name: 'application without requests that starts late',
    html: withApp(`setTimeout(() => { app.innerHTML = '<h1>Late text</h1>' }, 1_000)`),
    says: ['Late text'],
  },
  {
    name: 'skeleton that is replaced after a pause',
    html: withApp(`app.innerHTML = '<p style="background:#ddd;height:90px">'
      setTimeout(() => { app.innerHTML = '<h1>Real content</h1>' }, 800)`),
    says: ['Real content'],
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
  { name: 'event stream', html: '<h1>Page</h1><script>new EventSource("/events")</script>', says: ['Page'] },
  {
    name: 'WebSocket that does not open',
    html: '<h1>Page</h1><script>new WebSocket("ws://" + location.host)</script>',
  },
  {
    name: 'document that arrives in parts',
    html: '/parts',
    says: ['first part', 'last part'],
  },
  {
    name: 'module that imports a module',
    html: '<div id="app"></div><script type="module" src="/module.js"></script>',
    fetches: ['/module.js', '/imported.js'],
    says: ['From a module'],
  },
  {
    name: 'content from a worker',
    html: withApp(`const w = new Worker(URL.createObjectURL(new Blob(['setTimeout(() => postMessage("Worked out"), 300)'])))
      w.onmessage = ({ data }) => { app.innerHTML = '<h1>' + data + '</h1>' }`),
    options: { waitFor: 'h1' },
    says: ['Worked out'],
  },
  {
    name: 'redirect to the page',
    html: '/redirect',
    says: ['Arrived'],
  },
  {
    name: 'meta refresh at once',
    html: '<meta http-equiv="refresh" content="0;url=/arrived"><h1>Left</h1>',
    says: ['Arrived'],
    omits: ['Left'],
  },
  {
    name: 'script that goes elsewhere',
    html: '<h1>Left</h1><script>location.replace("/arrived")</script>',
    says: ['Arrived'],
  },
  {
    name: 'content after a timer of four seconds',
    html: withApp(`setTimeout(() => { app.innerHTML = '<h1>Late</h1>' }, 4_000)`),
    missing: ['timers_pending'],
    omits: ['Late'],
  },
  { name: 'download', html: '/download', fails: 'a download, or no content' },
  { name: 'page without an answer', html: '/never', fails: 'did not' },
  { name: 'compressed page', html: '/compressed', says: ['Compressed text'] },
]
