import { isoTime } from '@tollbook/core/clock'
import type { Figures, Tolerances } from '../agreement/figures.ts'
import type { AgreementRule } from '../agreement/judgeReadings.ts'
import type { AgreementPolicy } from '../askForAgreement.ts'
import type { Bar } from './bars.ts'

/*
 * Converts the series of several providers into comparable figures. Each figure is one price of one period. The word
 * before the space in its field name is the family, which determines the tolerance.
 */

export interface Grid {
  readonly intervalMs: number
  /**
   * Length of a cell, which is the longest bar of any provider for this range. Shorter bars are merged into cells of
   * this length.
   */
  readonly cellMs: number
}

/** Merges bars into cells, because providers have bars of half an hour, of hours or of days. */
export function gridFigures(bars: readonly Bar[], { intervalMs, cellMs }: Grid): Figures {
  const cells = Map.groupBy(bars, ({ startMs }) => Math.floor(startMs / cellMs))
  return Object.fromEntries(
    [...cells.values()].flatMap((cell): [string, number][] => {
      const [first, last] = [cell[0], cell.at(-1)]
      if (first === undefined || last === undefined) return []
      const to = isoTime(last.startMs + intervalMs)
      const span = `${isoTime(first.startMs)}/${to}`
      return [
        [`close ${to}`, last.close],
        [`high ${span}`, Math.max(...cell.map(({ high }) => high))],
        [`low ${span}`, Math.min(...cell.map(({ low }) => low))],
      ]
    }),
  )
}

/**
 * Returns the figures by the date at the exchange, because some providers date a bar by the opening and others by
 * midnight.
 */
export function dayFigures(bars: readonly Bar[], timeZone: string): Figures {
  const dates = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  const figures: Record<string, number | string> = {}
  let before: string | undefined
  for (const { startMs, open, high, low, close, volume } of bars) {
    const date = dates.format(startMs)
    Object.assign(figures, {
      [`close ${date}`]: close,
      [`open ${date}`]: open,
      [`high ${date}`]: high,
      [`low ${date}`]: low,
      ...(volume === undefined ? {} : { [`volume ${date}`]: volume }),
      // Include the date of the preceding bar. A bar with a wrong date has no counterpart to be compared with. The next
      // bar has a counterpart, which then shows a different preceding date.
      ...(before === undefined ? {} : { [`before ${date}`]: before }),
    })
    before = date
  }
  return figures
}

// Tolerate more for high and low, because they differ more between exchanges than the close.
const cryptoTolerances: Tolerances = { close: { percent: 3 }, high: { percent: 8 }, low: { percent: 8 } }
// Providers report trades of the same exchange, but each omits different trades. Tolerate small differences of prices,
// and volumes that differ by up to a factor of 3.
const stockTolerances: Tolerances = {
  close: { percent: 2 },
  open: { percent: 3 },
  high: { percent: 3 },
  low: { percent: 3 },
  volume: { factor: 3 },
}

const ruleOf = (tolerances: Tolerances): AgreementRule => ({ main: 'close', tolerances, jumps: tolerances })
export const cryptoHistoryRule = ruleOf(cryptoTolerances)
export const stockHistoryRule = ruleOf(stockTolerances)

/**
 * Never remembers a history, because a history has thousands of figures. The sources of each request must confirm the
 * history.
 */
export const nothingKnown: AgreementPolicy<unknown>['lastKnown'] = { find: () => undefined, remember: () => undefined }
