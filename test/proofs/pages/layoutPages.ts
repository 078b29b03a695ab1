import { type CorpusPage, filler } from './corpusPage.ts'

/** Pages for paper, scripts of the world, and graphics. */
export const layoutPages: readonly CorpusPage[] = [
  {
    name: 'print style sheet',
    html: '<style>@page{size:A5}@media print{nav{display:none}}</style><nav>menu</nav><h1>Page</h1>',
    says: ['Page'],
    omits: ['menu'],
  },
  {
    name: 'landscape by the style sheet',
    html: '<style>@page{size:A4 landscape;margin:2cm}</style><h1>Across</h1>',
    says: ['Across'],
    sheets: 1,
  },
  {
    name: 'page breaks',
    html: '<style>h1{break-before:page}</style><p>Start</p><h1>One</h1><h1>Two</h1>',
    says: ['Start', 'Two'],
    sheets: 3,
  },
  {
    name: 'table wider than its paper',
    html: `<table><tr>${Array.from({ length: 25 }, (_, nth) => `<td>column${nth}</td>`).join('')}</tr></table>`,
    says: ['column0', 'column24'],
  },
  {
    name: 'table over several sheets',
    html: `<table><thead><tr><th>Heading</th></tr></thead><tbody>${'<tr><td>cell</td></tr>'.repeat(150)}</tbody></table>`,
    says: ['Heading'],
  },
  {
    name: 'content for paper only',
    html: '<style>.p{display:none}@media print{.p{display:block}.s{display:none}}</style><p class="s">screen<p class="p">paper',
    says: ['paper'],
    omits: ['screen'],
  },
  {
    name: 'content that a script makes before printing',
    html: `<div id="a"></div><script>addEventListener('beforeprint', () => { a.textContent = 'Made for paper' })</script>`,
    says: ['Made for paper'],
  },
  {
    name: 'columns, grid and flex',
    html: `<div style="columns:3">${filler}</div><div style="display:grid;grid-template-columns:1fr 2fr;gap:9px"><b>left</b><i>right</i></div><div style="display:flex;justify-content:space-between"><span>one</span><span>two</span></div>`,
    says: ['left', 'two'],
  },
  { name: 'right to left', html: '<html dir="rtl"><h1>مرحبا بالعالم</h1><p>שלום עולם</p>' },
  { name: 'both directions in a line', html: '<p>The word <bdi>مرحبا</bdi> means hello.</p>', says: ['means hello'] },
  { name: 'Greek and Cyrillic', html: '<h1>Καλημέρα κόσμε</h1><p>Привет, мир</p>', says: ['Καλημέρα', 'Привет'] },
  {
    name: 'Chinese, Japanese, Korean',
    html: '<h1>你好，世界</h1><p>こんにちは</p><p>안녕하세요</p>',
    says: ['世界', 'こんにちは', '안녕하세요'],
  },
  {
    name: 'vertical text',
    html: '<div style="writing-mode:vertical-rl;height:300px"><h1>縦書き</h1><p>日本語</p></div>',
  },
  { name: 'Hindi', html: '<h1>नमस्ते दुनिया</h1>' },
  { name: 'emoji', html: '<h1>🦜 🚀 🧾</h1>' },
  { name: 'emoji of several characters', html: '<h1>👩‍💻 👨‍👩‍👧 🇨🇭 👍🏽</h1>' },
  { name: 'script that no font has', html: '<h1>Cuneiform 𒀀𒀁𒀂 end</h1>', mayLackGlyphs: true, says: ['end'] },
  {
    name: 'serif, sans and monospace',
    html: '<h1 style="font-family:Georgia,serif">Serif</h1><h1 style="font-family:Arial">Sans</h1><h1 style="font-family:Courier New">Mono</h1>',
    says: ['Serif', 'Sans', 'Mono'],
  },
  {
    name: 'fonts that pages name',
    html: `<h1 id="t"></h1><script>
      const context = document.createElement('canvas').getContext('2d')
      const widthOf = (family) => { context.font = '20px ' + family; return context.measureText('mill iii').width }
      const same = ['Times New Roman', 'Times', 'Courier New', 'Courier', 'Georgia', 'Verdana'].filter((family) => widthOf(family) === widthOf('Arial'))
      t.textContent = 'as Arial: ' + (same.join() || 'none')
    </script>`,
    says: ['as Arial: none'],
  },
  {
    name: 'mathematics',
    html: '<math display="block"><mfrac><msup><mi>x</mi><mn>2</mn></msup><msqrt><mi>y</mi></msqrt></mfrac><mo>=</mo><mn>1</mn></math>',
  },
  {
    name: 'canvas and SVG',
    html: `<canvas id="c" width="200" height="80"></canvas><svg width="80" height="80"><circle cx="40" cy="40" r="30"/></svg><script>c.getContext('2d').fillRect(5, 5, 90, 50)</script>`,
  },
  {
    name: 'canvas that is drawn in frames',
    html: `<canvas id="c" width="300" height="100"></canvas><script>let n = 0; const step = () => { c.getContext('2d').fillRect(n, 0, 2, 100); if ((n += 3) < 300) requestAnimationFrame(step) }; step()</script>`,
  },
  {
    name: 'canvas that is drawn without end',
    html: `<canvas id="c" width="300" height="100"></canvas><script>let n = 0; const pen = c.getContext('2d'); const step = () => { if ((n += 3) > 300) { n = 0; pen.clearRect(0, 0, 300, 100) } pen.fillRect(n, 0, 2, 100); requestAnimationFrame(step) }; step()</script>`,
    missing: ['still_drawing'],
    moves: true,
  },
  {
    name: 'SVG image with text',
    html: `<img width="300" height="80" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='300' height='80'><text y='40' font-size='30'>Drawn text</text></svg>">`,
  },
  {
    name: 'picture with sources and densities',
    html: '<picture><source media="(min-width:500px)" srcset="/picture.png?wide 1x, /picture.png?dense 2x"><img src="/picture.png?narrow" width="80" height="80"></picture>',
    fetches: ['/picture.png?wide'],
  },
  {
    name: 'huge picture',
    html: '<h1>Huge</h1><img src="/huge.svg" style="width:100%">',
    fetches: ['/huge.svg'],
    says: ['Huge'],
  },
  {
    name: 'dark mode',
    html: '<style>@media (prefers-color-scheme: dark){body{background:black;color:white}}</style><h1>Page</h1>',
    options: { colorScheme: 'dark' },
  },
  {
    name: 'transparent and blended layers',
    html: '<div style="width:200px;height:200px;background:red"></div><div style="width:200px;height:200px;margin-top:-100px;background:blue;mix-blend-mode:multiply;opacity:.8;filter:blur(2px)"></div>',
  },
  {
    name: 'German locale and Zurich time',
    html: `<h1 id="t"></h1><script>t.textContent = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short' }).format(new Date(0)) + ' ' + (1234.5).toLocaleString()</script>`,
    options: { locale: 'de-CH', timezone: 'Europe/Zurich' },
    says: ['Donnerstag', '01:00'],
  },
]
