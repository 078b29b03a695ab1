/* Content is set as text, so that text from the service or a wallet never becomes markup. */

/** Throws if no element matches the selector. */
export function one(selector: string, within: ParentNode = document): HTMLElement {
  return oneOf(HTMLElement, selector, within)
}

/** Throws if no element matches the selector, or if the first match has another class. */
export function oneOf<T extends Element>(
  kind: abstract new () => T,
  selector: string,
  within: ParentNode = document,
): T {
  const found = within.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`the page has no ${selector}`)
  return found
}

export function all(selector: string, within: ParentNode = document): readonly HTMLElement[] {
  return [...within.querySelectorAll(selector)].filter((found) => found instanceof HTMLElement)
}

export type Content = string | Node

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
  /** Totals of the whole report, not of the shown rows. */
  readonly foot?: readonly Content[]
}

/** Replaces the lines of the table, and keeps its caption. The first cell of a row is its header. */
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

export function foldedTable(title: string, content: TableContent): HTMLDetailsElement {
  const table = element('table', {})
  fillTable(table, content)
  return element('details', {}, element('summary', {}, title), scrollable(table, title))
}

/** Returns an area with the table, which scrolls by keyboard too if the table is wide. */
export function scrollable(table: HTMLTableElement, title: string): HTMLElement {
  return element('div', { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: title }, table)
}

export function factsOf(facts: readonly (readonly [name: string, value: Content])[]): readonly HTMLElement[] {
  return facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', { className: 'mono' }, value)])
}
