import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { PageWorld } from './pageWorld.ts'
import { RenderFailure } from './renderer.ts'

/*
 * Markdown is parsed inside the page, so that a slow text uses up only the deadline of its own job. HTML in the text is
 * shown as text. As a second protection, the content policy forbids all scripts.
 */

/** Pictures in the text are loaded through the egress proxy, as on any page. */
export const markdownShell = `<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src http: https: data:; style-src 'unsafe-inline'">
<style>
body { font: 12pt/1.5 sans-serif; margin: 0; overflow-wrap: break-word }
h1, h2, h3, h4 { line-height: 1.25; break-after: avoid }
pre, code { font-family: monospace; font-size: 0.9em; background: #f3f3f3 }
pre { padding: 0.8em; white-space: pre-wrap; break-inside: avoid }
blockquote { margin-inline: 0; padding-inline-start: 1em; border-inline-start: 3px solid #ccc }
table { border-collapse: collapse }
th, td { border: 1px solid #bbb; padding: 0.3em 0.6em }
tr, img { break-inside: avoid }
img { max-width: 100% }
</style></head><body></body></html>`

let converter: Promise<string> | undefined

/** Shows the Markdown in the page, which must have loaded the shell. */
export async function showMarkdown(world: PageWorld, markdown: string): Promise<void> {
  converter ??= readConverter()
  if ((await world.run(await converter, markdown)) !== true)
    throw new RenderFailure('unreachable', 'the Markdown could not be read')
}

/** Reads the parser as a browser script: importing it in Node would load another file. */
async function readConverter(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('marked')
  const parser = await readFile(join(dirname(entry), 'marked.umd.js'), 'utf8')
  return `(markdown) => {
    const module = { exports: {} }
    const { exports } = module;
    ${parser};
    ${show};
    return show(module.exports.Marked, markdown)
  }`
}

const show = `function show(Marked, markdown) {
  const escape = (text) => text.replace(/[&<>"']/g, (character) => '&#' + character.charCodeAt(0) + ';')
  const parser = new Marked({ gfm: true })
  parser.use({
    // After a tag such as \`<pre>\`, marked would write the rest of the line unescaped.
    tokenizer: { tag: () => undefined },
    renderer: { html: ({ text }) => escape(text) },
    walkTokens(token) {
      if (token.type !== 'link' && token.type !== 'image') return
      const allowed = token.type === 'link' ? /^(https?:|mailto:|#)/i : /^(https?:|data:image\\/(png|jpeg|gif|webp);)/i
      if (!allowed.test(token.href.trim())) token.href = ''
    },
  })
  document.body.innerHTML = parser.parse(markdown)
  document.title = document.querySelector('h1, h2, h3')?.textContent ?? ''
  return true
}`
