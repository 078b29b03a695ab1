import { type CorpusPage, filler } from './corpusPage.ts'

const grow = (
  condition: string,
) => `<div id="l">${filler}</div><script>let n = 0; addEventListener('scroll', async () => {
  if (${condition}scrollY + innerHeight > document.body.scrollHeight - 200) { n++; await fetch('/slow?' + n); l.insertAdjacentHTML('beforeend', ${JSON.stringify(filler)}) } })</script>`
const rows = (count: number) => Array.from({ length: count }, (_, nth) => `<p>Row ${nth}</p>`).join('')

/** Pages that show more when they are scrolled, or that do not scroll as a document. */
export const scrollingPages: readonly CorpusPage[] = [
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
    name: 'lazy image in a shadow root',
    html: `${filler}<div id="h"></div><script>h.attachShadow({ mode: 'closed' }).innerHTML = '<h2>In the shadow</h2><img loading="lazy" src="/picture.png?shadow" width="80" height="80">'</script>`,
    fetches: ['/picture.png?shadow'],
    says: ['In the shadow'],
  },
  {
    name: 'lazy frame below the fold',
    html: `${filler}<iframe loading="lazy" src="/arrived" width="300" height="120"></iframe>`,
    fetches: ['/arrived'],
    says: ['Arrived'],
  },
  {
    name: 'sections that fade in when they are seen',
    html: `<style>section{opacity:0;height:500px}section.seen{opacity:1}</style>${'<section><h2>Section</h2></section>'.repeat(6)}<script>const o = new IntersectionObserver((es) => es.forEach((e) => e.isIntersecting && e.target.classList.add('seen'))); document.querySelectorAll('section').forEach((s) => o.observe(s))</script>`,
    says: ['Section'],
  },
  { name: 'list that grows twice while it is scrolled', html: grow('n < 2 && ') },
  { name: 'infinite scroll', html: grow(''), missing: ['lazy_content'] },
  {
    name: 'smooth scrolling',
    html: `<style>html{scroll-behavior:smooth}</style>${filler}<img loading="lazy" src="/picture.png?smooth" width="80" height="80">`,
    fetches: ['/picture.png?smooth'],
  },
  {
    name: 'scroll snap',
    html: `<style>html{scroll-snap-type:y mandatory}section{height:100vh;scroll-snap-align:start}</style>${[1, 2, 3, 4].map((n) => `<section><h1>Screen ${n}</h1><img loading="lazy" src="/picture.png?snap${n}" width="80" height="80"></section>`).join('')}`,
    fetches: ['/picture.png?snap4'],
    says: ['Screen 4'],
  },
  {
    name: 'virtual list of the window',
    html: `<div id="v" style="position:relative;height:4000px"></div><script>const draw = () => { v.innerHTML = ''; for (let n = Math.floor(scrollY / 40); n < Math.min(100, (scrollY + innerHeight) / 40); n++) v.insertAdjacentHTML('beforeend', '<p style="position:absolute;margin:0;top:' + n * 40 + 'px">Item ' + n + '</p>') }; addEventListener('scroll', draw); draw()</script>`,
    missing: ['unloaded_content'],
  },
  {
    name: 'list that is drawn again at each scroll',
    html: `<div id="v"></div><script>const draw = () => { v.innerHTML = ${JSON.stringify(rows(100))} }; addEventListener('scroll', draw); draw()</script>`,
    says: ['Row 99'],
  },
  {
    name: 'area that scrolls by itself',
    html: `<style>html,body{margin:0;height:100%;overflow:hidden}main{height:100vh;overflow:auto}</style><main>${rows(100)}</main>`,
    missing: ['scroll_area'],
  },
  {
    name: 'small box that scrolls by itself',
    html: `<h1>Page</h1><div style="height:120px;width:300px;overflow:auto">${rows(30)}</div>`,
    says: ['Page'],
  },
  {
    name: 'sticky header',
    html: `<header style="position:sticky;top:0;height:60px;background:gold">Sticky</header>${filler}`,
    says: ['Sticky'],
  },
  {
    name: 'fixed header',
    html: `<header style="position:fixed;inset:0 0 auto;height:60px;background:gold">Fixed</header><div style="height:60px"></div>${filler}`,
    says: ['Fixed'],
  },
  {
    name: 'header that hides while it is scrolled',
    html: `<header id="h" style="position:fixed;inset:0 0 auto;height:60px;background:gold">Header</header><div style="height:60px"></div>${filler}<script>let y = 0; addEventListener('scroll', () => { h.hidden = scrollY > y; y = scrollY })</script>`,
    says: ['Header'],
  },
  {
    name: 'banner that is hidden',
    html: `<div class="banner" style="position:fixed;inset:auto 0 0;height:200px;background:gold">cookies?</div>${filler}`,
    options: { hide: '.banner' },
    omits: ['cookies?'],
  },
  {
    name: 'banner that a script brings and that is hidden',
    html: `${filler}<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<div class="banner" style="position:fixed;inset:0;background:gold">cookies?</div>'), 300)</script>`,
    options: { hide: '.banner' },
    omits: ['cookies?'],
  },
  {
    name: 'parallax background',
    html: `<style>body{background:linear-gradient(#eef,#cce) fixed}</style>${filler}`,
  },
  {
    name: 'page of 30,000 pixels',
    html: '<div style="height:30000px;background:linear-gradient(red,blue)"></div>',
    clipped: true,
  },
  {
    name: 'page of 60,000 pixels',
    html: '<div style="height:60000px;background:linear-gradient(red,blue)">top</div>',
    clipped: true,
    missingOnPaper: ['lazy_content'],
  },
  {
    name: 'page wider than the window',
    html: '<div style="width:3000px;height:200px;background:linear-gradient(90deg,red,blue)"></div><h1>Wide</h1>',
    missingOnPaper: ['too_wide'],
    says: ['Wide'],
  },
]
