/* Charts, each with a table of its figures, for readers who cannot see the picture. */

import { dayStepsS, rangeOfDays } from './dayRange.js'

const redraws = new Map()
const scheme = matchMedia('(prefers-color-scheme: dark)')
scheme.addEventListener('change', () => redraws.forEach((redraw) => redraw()))
const heightPx = 240
const dashes = [[], [8, 4], [2, 3], [12, 4, 2, 4]]

/** Bars or lines over days. `series`: [{ label, values }], `days`: ISO dates, oldest first. */
export function drawDays(figure, { days, series, title, asLines = false }) {
  const xs = days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1000)
  draw(figure, title, (colors) => ({
    data: [xs, ...series.map(({ values }) => values)],
    options: {
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      legend: { show: series.length > 1, live: false },
      scales: { x: { range: () => rangeOfDays(xs) }, y: { range: (_, _min, max) => [0, max > 0 ? max * 1.08 : 1] } },
      axes: [
        { ...axis(colors), space: 64, incrs: dayStepsS, values: (_, ticks) => ticks.map(dayText) },
        { ...axis(colors), size: 64, values: (_, ticks) => ticks.map(short) },
      ],
      series: [
        {},
        ...series.map(({ label }, index) => ({
          label,
          stroke: colors.series[index % colors.series.length],
          // Further series repeat the colors with other dashes.
          dash: asLines ? dashes[index % dashes.length] : undefined,
          width: asLines ? 2 : 0,
          fill: asLines ? undefined : colors.series[index % colors.series.length],
          paths: asLines ? undefined : uPlot.paths.bars({ size: [0.7, 40] }),
          points: { show: asLines && xs.length < 40 },
        })),
      ],
    },
  }))
}

/** One bar for each name, lying, so that names have room. */
export function drawNames(figure, { names, values, title }) {
  const labelPx = Math.min(150, 20 + Math.max(0, ...names.map((name) => name.length)) * 7)
  draw(figure, title, (colors) => ({
    data: [names.map((_, index) => index), values],
    options: {
      legend: { show: false },
      scales: {
        x: { time: false, ori: 1, dir: -1, range: () => [-0.6, names.length - 0.4] },
        y: { ori: 0, range: (_, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
      },
      axes: [
        {
          ...axis(colors),
          side: 3,
          size: labelPx,
          splits: () => names.map((_, index) => index),
          values: () => names,
          grid: { show: false },
        },
        { ...axis(colors), side: 2, space: 70, values: (_, ticks) => ticks.map(short) },
      ],
      series: [
        {},
        { fill: colors.series[0], width: 0, paths: uPlot.paths.bars({ size: [0.6, 28] }), points: { show: false } },
      ],
    },
  }))
}

/** A table of figures, folded under the picture. `rows`: [[name, …texts]]. */
export function tableBehind(figure, head, rows) {
  const table = figure.querySelector('.scroll table')
  table.replaceChildren(rowOf('thead', [head], 'col'), rowOf('tbody', rows, 'row'))
}

function rowOf(tag, rows, scope) {
  const part = document.createElement(tag)
  for (const cells of rows) {
    const line = part.insertRow()
    cells.forEach((text, index) => {
      const isHead = scope === 'col' || index === 0
      const cell = document.createElement(isHead ? 'th' : 'td')
      if (isHead) cell.scope = scope
      cell.textContent = text
      if (index > 0) cell.className = 'number'
      line.append(cell)
    })
  }
  return part
}

function draw(figure, title, plan) {
  const stage = figure.querySelector('.stage')
  // A browser that cannot draw still shows the figures.
  if (typeof uPlot === 'undefined') {
    stage.textContent = 'This browser cannot draw the chart.'
    return
  }
  const plot = () => {
    const { data, options } = plan(colorsNow())
    if (data[0].length === 0) {
      stage.textContent = 'Nothing in this range.'
      return
    }
    const size = { width: stage.clientWidth, height: heightPx }
    const { root } = new uPlot({ ...size, cursor: { show: false }, ...options }, data)
    stage.replaceChildren(root)
  }
  stage.setAttribute('role', 'img')
  stage.setAttribute('aria-label', `${title}. The figures are in the table below.`)
  plot()
  const isWatched = redraws.has(figure)
  redraws.set(figure, plot)
  if (!isWatched) watchWidth(figure, stage)
}

function watchWidth(figure, stage) {
  let width = stage.clientWidth
  new ResizeObserver(() => {
    if (stage.clientWidth === width || stage.clientWidth === 0) return
    width = stage.clientWidth
    redraws.get(figure)()
  }).observe(stage)
}

function colorsNow() {
  const style = getComputedStyle(document.documentElement)
  const of = (name) => style.getPropertyValue(name).trim()
  return { text: of('--muted'), grid: of('--line'), series: [of('--chart-1'), of('--chart-2'), of('--chart-3')] }
}

function axis({ text, grid }) {
  return { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: '12px system-ui' }
}

function dayText(seconds) {
  return new Date(seconds * 1000).toISOString().slice(5, 10)
}

function short(value) {
  if (value === null) return ''
  const [unit, name] = [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ].find(([unit]) => Math.abs(value) >= unit) ?? [1, '']
  return `${Math.round((value / unit) * 100) / 100}${name}`
}
