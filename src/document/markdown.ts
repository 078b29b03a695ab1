import { html, type Markup } from './markup.ts'

/**
 * Renders the Markdown of our own documents: headings, lists, tables, fenced code and paragraphs, with code, bold and links in
 * their text. Anything else is shown as it is written.
 */
export function markdown(text: string): Markup {
  return html`${text.split(/\n{2,}/).map((block) => blockOf(block.trim()))}`
}

/** A heading as the end of an address. */
export function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}

function blockOf(block: string): Markup {
  const lines = block.split('\n')
  const [first = ''] = lines
  if (first.startsWith('```')) return html`<pre tabindex="0"><code>${lines.slice(1, -1).join('\n')}</code></pre>`
  if (first.startsWith('## ')) {
    const heading = first.slice(3)
    return html`<h2 id="${anchorOf(heading)}">${heading}</h2>`
  }
  if (first.startsWith('|')) return tableOf(lines)
  if (first.startsWith('- '))
    return html`<ul>
      ${itemsOf(lines, /^- /)}
    </ul>`
  if (/^\d+\. /.test(first))
    return html`<ol>
      ${itemsOf(lines, /^\d+\. /)}
    </ol>`
  return html`<p>${inline(block)}</p>`
}

function itemsOf(lines: readonly string[], marker: RegExp): Markup[] {
  return lines.map((line) => html`<li>${inline(line.replace(marker, ''))}</li>`)
}

function tableOf([head = '', , ...rows]: readonly string[]): Markup {
  const titles = cellsOf(head).map((cell) => html`<th scope="col">${inline(cell)}</th>`)
  const body = rows.map(
    (row) =>
      html`<tr>
        ${cellsOf(row).map((cell) => html`<td>${inline(cell)}</td>`)}
      </tr>`,
  )
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${cellsOf(head).join(', ')}">
    <table>
      <thead>
        <tr>
          ${titles}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
  </div>`
}

/** A bar after a backslash belongs to its cell. */
function cellsOf(row: string): string[] {
  const cells = row.split(/(?<!\\)\|/).slice(1, -1)
  return cells.map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'))
}

const marks = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g

function inline(text: string): Markup {
  const parts: Markup[] = []
  let at = 0
  for (const match of text.matchAll(marks)) {
    parts.push(html`${text.slice(at, match.index)}`, marked(match))
    at = match.index + match[0].length
  }
  return html`${[...parts, html`${text.slice(at)}`]}`
}

function marked([all, code, bold, emphasis, label, address]: RegExpExecArray | RegExpMatchArray): Markup {
  if (code !== undefined) return html`<code>${code}</code>`
  if (bold !== undefined) return html`<strong>${bold}</strong>`
  if (emphasis !== undefined) return html`<em>${emphasis}</em>`
  // No other scheme: a link of a document must not run anything.
  const isSafe = address !== undefined && /^(https?:\/\/|[#/.\w])/.test(address) && !/^\w+:(?!\/\/)/.test(address)
  return label !== undefined && isSafe ? html`<a href="${address}">${label}</a>` : html`${all ?? ''}`
}
