import { Marked, type Tokens } from 'marked'
import { html, type Markup } from './markup.ts'

/** Renders Markdown as HTML. HTML in the Markdown is shown as text, and links cannot run scripts. */
export function markdown(text: string): Markup {
  return { markup: renderer.parse(text, { async: false }) }
}

export function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}

const renderer = new Marked({
  // After a tag such as `<pre>`, marked would write the rest of the line unescaped.
  tokenizer: { tag: () => undefined },
  renderer: {
    // Show HTML and pictures as text, so that a description cannot add a script or a request to another site.
    html: ({ text }) => html`${text}`.markup,
    image: ({ text }) => html`${text}`.markup,
    heading({ depth, text, tokens }) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>`
    },
    link({ href, tokens }) {
      const label = this.parser.parseInline(tokens)
      return isSafe(href) ? `<a href="${html`${href}`.markup}">${label}</a>` : label
    },
    code: (block) => codeOf(block).markup,
  },
  hooks: {
    // Put each table into a region with a tab stop, so that a wide table can be scrolled with the keyboard.
    postprocess: (page) =>
      page
        .replaceAll('<table>', '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>')
        .replaceAll('</table>', '</table></div>'),
  },
})

/** Renders a code block. Text after the language of a fence is a title, under which the block is folded. */
function codeOf({ lang = '', text }: Tokens.Code): Markup {
  const title = lang.slice(lang.indexOf(' ') + 1)
  const block = html`<pre tabindex="0"><code>${text}</code></pre>`
  return title === lang
    ? block
    : html`<details>
        <summary>${title}</summary>
        ${block}
      </details>`
}

/** True for http(s) and relative addresses. An address such as `javascript:` would run a script. */
function isSafe(address: string): boolean {
  const base = 'https://service.example'
  return URL.canParse(address, base) && /^https?:$/.test(new URL(address, base).protocol)
}
