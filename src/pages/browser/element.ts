/* The document of the page. Texts are set as text, so nothing that a service or a wallet says is ever markup. */

/** An element that the page always has. */
export function one(selector: string, within: ParentNode = document): HTMLElement {
  return oneOf(HTMLElement, selector, within)
}

/** An element of this kind that the page always has. */
export function oneOf<T extends Element>(
  kind: abstract new () => T,
  selector: string,
  within: ParentNode = document,
): T {
  const found = within.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`the page has no ${selector}`)
  return found
}

/** All elements that match, as HTML elements. */
export function all(selector: string, within: ParentNode = document): readonly HTMLElement[] {
  return [...within.querySelectorAll(selector)].filter((found) => found instanceof HTMLElement)
}

export type Content = string | Node

/** Creates an element with its properties and content. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
  ...content: readonly Content[]
): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag)
  Object.assign(created, properties)
  created.append(...content)
  return created
}

export interface Column {
  readonly name: string
  readonly isNumber?: boolean
}

export interface TableContent {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly Content[])[]
  /** Totals of the whole report. */
  readonly foot?: readonly Content[]
}

/** Replaces the content of a table, and keeps its caption. The first cell of a row names it. */
export function fillTable(table: HTMLTableElement, { columns, rows, foot }: TableContent): void {
  for (const part of [table.tHead, table.tFoot, ...table.tBodies]) part?.remove()
  const classOf = (index: number) => (columns[index]?.isNumber === true ? 'number' : '')
  const head = columns.map(({ name }, index) => element('th', { scope: 'col', className: classOf(index) }, name))
  const lineOf = (cells: readonly Content[]) =>
    element(
      'tr',
      {},
      ...cells.map((cell, index) =>
        index === 0
          ? element('th', { scope: 'row', className: classOf(index) }, cell)
          : element('td', { className: classOf(index) }, cell),
      ),
    )
  table.append(element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows.map(lineOf)))
  if (foot !== undefined) table.append(element('tfoot', {}, lineOf(foot)))
}

/** A table in a box that scrolls, folded under its title. */
export function foldedTable(title: string, content: TableContent): HTMLDetailsElement {
  const table = element('table', {})
  fillTable(table, content)
  const scroll = element('div', { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: title }, table)
  return element('details', {}, element('summary', {}, title), scroll)
}

/** Names and values of a definition list. */
export function factsOf(facts: readonly (readonly [name: string, value: Content])[]): readonly HTMLElement[] {
  return facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', { className: 'mono' }, value)])
}
