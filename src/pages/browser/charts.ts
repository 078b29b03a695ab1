/*
 * Each chart has a table of its figures, for readers who cannot see the picture. Bars of SVG need no redrawing on a new
 * width or color scheme.
 */

import { element, fillTable, foldedTable, one, scrollable, type TableContent } from './element.ts'

export interface DayChart {
  readonly title: string
  /** ISO format, oldest first. */
  readonly days: readonly string[]
  /** The bar of a day stacks the amounts of all series. */
  readonly series: readonly { readonly label: string; readonly values: readonly number[] }[]
  readonly table: TableContent
}

export function drawDays(figure: HTMLElement, { title, days, series, table }: DayChart): void {
  const caption = one('figcaption', figure)
  // Keep the state of the figures, because a page that refreshes must not close those that its reader has opened.
  const isOpen = figure.querySelector('details')?.open === true
  const figures = foldedTable(`Figures: ${caption.textContent ?? ''}`, table)
  figures.open = isOpen
  if (days.length === 0) {
    figure.replaceChildren(caption, 'Nothing in this range.', figures)
    return
  }
  // Draw nothing below zero, because browsers reject a bar of negative height. A day is negative if the chain reversed
  // more than was paid.
  const barOf = (values: readonly number[], day: number) => Math.max(values[day] ?? 0, 0)
  const most = Math.max(...days.map((_, day) => series.reduce((sum, { values }) => sum + barOf(values, day), 0)))
  const picture = svg('svg', {
    viewBox: `0 0 ${days.length} ${heightUnits}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': `${title}. The figures are in the table below.`,
  })
  days.forEach((day, index) => {
    let top = heightUnits
    series.forEach(({ label, values }, nth) => {
      const height = most > 0 ? (barOf(values, index) / most) * heightUnits : 0
      top -= height
      const bar = svg('rect', { x: index + 0.1, y: top, width: 0.8, height, class: colorOf(nth) })
      const tip = svg('title', {})
      tip.textContent = `${day}: ${values[index] ?? 0} ${label}`
      bar.append(tip)
      picture.append(bar)
    })
  })
  const labels = series.map(({ label }, nth) => element('span', { className: colorOf(nth) }, `■ ${label}`))
  const axis = element('p', { className: 'axis' }, days[0] ?? '', ...labels, days.at(-1) ?? '')
  figure.replaceChildren(
    caption,
    element('p', { className: 'muted' }, `up to ${short(most)} a day`),
    picture,
    axis,
    figures,
  )
}

/** Height of the picture in its own units. The width is one unit per day, and the page stretches both. */
const heightUnits = 100
/** style.css has this many colors of series. */
const colors = 5

function colorOf(nth: number): string {
  return `series-${nth % colors}`
}

function svg(name: 'svg' | 'rect' | 'title', attributes: Readonly<Record<string, string | number>>): SVGElement {
  const created = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, String(value))
  return created
}

export interface NameChart {
  /** Headings of the column of names and the column of amounts. */
  readonly columns: readonly [name: string, amount: string]
  readonly lines: readonly { readonly name: string; readonly value: number; readonly text: string }[]
}

/**
 * Draws a bar for each name. The bars are in a table with the amounts, so that readers who cannot see them have the
 * figures.
 */
export function drawNames(figure: HTMLElement, { columns: [name, amount], lines }: NameChart): void {
  const table = element('table', {})
  const most = Math.max(...lines.map(({ value }) => value))
  const rows = lines.map((line) => {
    const bar = element('meter', { max: most, value: line.value, ariaHidden: 'true' })
    return [line.name, element('span', {}, bar, ` ${line.text}`)]
  })
  fillTable(table, { columns: [{ name }, { name: amount, isNumber: true }], rows })
  figure.replaceChildren(one('figcaption', figure), scrollable(table, one('figcaption', figure).textContent ?? ''))
}

function short(value: number): string {
  return value.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 2 })
}
