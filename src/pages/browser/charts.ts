/* Charts, each with a table of its figures, for readers who cannot see the picture. */

import './language.ts'
import uPlot from 'uplot'
import { element, foldedTable, one, type TableContent } from './element.ts'

interface Chart {
  readonly title: string
  /** The chart's figures as a table of texts. */
  readonly table: TableContent
}

export interface DayChart extends Chart {
  /** ISO dates, oldest first. */
  readonly days: readonly string[]
  readonly series: readonly { readonly label: string; readonly values: readonly number[] }[]
  readonly asLines?: boolean
}

export interface NameChart extends Chart {
  readonly names: readonly string[]
  readonly values: readonly number[]
}

const redraws = new Map<HTMLElement, () => void>()
const scheme = matchMedia('(prefers-color-scheme: dark)')
scheme.addEventListener('change', () => redraws.forEach((redraw) => redraw()))
const heightPx = 240
const dayS = 86_400
const dashes = [[], [8, 4], [2, 3], [12, 4, 2, 4]]
// oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the enum of uPlot's types has no values at run time
const [bottom, left]: readonly [uPlot.Axis.Side, uPlot.Axis.Side] = [2, 3]
// Steps of the axis in seconds. Steps shorter than a day would repeat the label of the day.
const dayStepsS = [1, 2, 7, 14, 30, 60, 90, 180, 365].map((days) => days * dayS)

/** Draws bars or lines over days. */
export function drawDays(figure: HTMLElement, chart: DayChart): void {
  const { days, series, asLines = false } = chart
  const xs = days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1000)
  draw(figure, chart, (colors) => {
    const colorOf = (index: number) => colors.series[index % colors.series.length] ?? ''
    return {
      data: [xs, ...series.map(({ values }) => [...values])],
      options: {
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        legend: { show: series.length > 1, live: false },
        scales: { x: { range: () => rangeOfDays(xs) }, y: { range: fromZero } },
        axes: [
          { ...axis(colors), space: 64, incrs: dayStepsS, values: (_, ticks) => ticks.map(dayText) },
          { ...axis(colors), size: 64, values: (_, ticks) => ticks.map(short) },
        ],
        series: [
          {},
          ...series.map(({ label }, index) => ({
            label,
            stroke: colorOf(index),
            // Give later series another dash, because colors repeat.
            ...(asLines ? { dash: dashes[index % dashes.length] ?? [], width: 2 } : barsOf(colorOf(index), [0.7, 40])),
            points: { show: asLines && xs.length < 40 },
          })),
        ],
      },
    }
  })
}

/** Draws one horizontal bar per name, so that long names have room. */
export function drawNames(figure: HTMLElement, chart: NameChart): void {
  const { names, values } = chart
  const labelPx = Math.min(150, 20 + Math.max(0, ...names.map((name) => name.length)) * 7)
  const places = names.map((_, index) => index)
  draw(figure, chart, (colors) => ({
    data: [places, [...values]],
    options: {
      legend: { show: false },
      scales: {
        x: { time: false, ori: 1, dir: -1, range: () => [-0.6, names.length - 0.4] },
        y: { ori: 0, range: fromZero },
      },
      axes: [
        {
          ...axis(colors),
          side: left,
          size: labelPx,
          splits: () => places,
          values: () => [...names],
          grid: { show: false },
        },
        { ...axis(colors), side: bottom, space: 70, values: (_, ticks) => ticks.map(short) },
      ],
      series: [{}, { ...barsOf(colors.series[0] ?? '', [0.6, 28]), points: { show: false } }],
    },
  }))
}

/**
 * Returns the first and last second of the axis, with half a day added on both sides for the width of the bars. uPlot's
 * own range would show a single day as 2.7 years.
 */
function rangeOfDays(days: readonly number[]): [number, number] {
  return [(days[0] ?? 0) - dayS / 2, (days.at(-1) ?? 0) + dayS / 2]
}

function fromZero(_: uPlot, _min: number, max: number): [number, number] {
  return [0, max > 0 ? max * 1.08 : 1]
}

function barsOf(fill: string, size: [factor: number, max: number]) {
  const paths = uPlot.paths.bars?.({ size })
  return { fill, width: 0, ...(paths === undefined ? {} : { paths }) }
}

interface Plan {
  readonly data: uPlot.AlignedData
  readonly options: Omit<uPlot.Options, 'width' | 'height'>
}

function draw(figure: HTMLElement, { title, table }: Chart, plan: (colors: Colors) => Plan): void {
  const caption = one('figcaption', figure)
  const stage = element('div', { className: 'stage', role: 'img' })
  stage.ariaLabel = `${title}. The figures are in the table below.`
  const isOpen = figure.querySelector('details')?.open === true
  const figures = foldedTable(`Figures: ${caption.textContent ?? ''}`, table)
  figures.open = isOpen
  figure.replaceChildren(caption, stage, figures)
  const plot = () => {
    const { data, options } = plan(colorsNow())
    if (data[0].length === 0) {
      stage.textContent = 'Nothing in this range.'
      return
    }
    const { root } = new uPlot(
      { width: stage.clientWidth, height: heightPx, cursor: { show: false }, ...options },
      data,
    )
    stage.replaceChildren(root)
  }
  plot()
  const isWatched = redraws.has(figure)
  redraws.set(figure, plot)
  if (!isWatched) watchWidth(figure)
}

function watchWidth(figure: HTMLElement): void {
  let width = figure.clientWidth
  new ResizeObserver(() => {
    if (figure.clientWidth === width || figure.clientWidth === 0) return
    width = figure.clientWidth
    redraws.get(figure)?.()
  }).observe(figure)
}

type Colors = ReturnType<typeof colorsNow>

function colorsNow() {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string) => style.getPropertyValue(name).trim()
  return { text: of('--muted'), grid: of('--line'), series: [of('--chart-1'), of('--chart-2'), of('--chart-3')] }
}

function axis({ text, grid }: Colors) {
  return { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: '12px system-ui' }
}

function dayText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(5, 10)
}

const units = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

function short(value: number | null): string {
  if (value === null) return ''
  const [unit, name] = units.find(([size]) => Math.abs(value) >= size) ?? [1, '']
  return `${Math.round((value / unit) * 100) / 100}${name}`
}
