import { isoTime } from '@tollbook/core/clock'
import type { Figures, Tolerances } from '../agreement/figures.ts'
import type { AgreementRule } from '../agreement/judgeReadings.ts'
import type { AgreementPolicy } from '../askForAgreement.ts'
import type { Bar } from './bars.ts'

/*
 * Series of several providers as figures that can be compared: one field for each price of each stretch of time that both cover.
 * The word before the space is the field's family, whose tolerance it has.
 */

/** Common cells of time, in which providers with different bars can be compared. */
export interface Grid {
  readonly intervalMs: number
  /** The longest bar of any provider for this range. Shorter bars are joined to it. */
  readonly cellMs: number
}

/** Joined bars: providers have bars of half an hour, of hours, and of days. */
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

/** Bars of a day, by its date at the exchange: some providers say when trading begins, others midnight. */
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
      // A bar with a wrong date has no counterpart, but it stands before one that has.
      ...(before === undefined ? {} : { [`before ${date}`]: before }),
    })
    before = date
  }
  return figures
}

// The highest and the lowest trade of an hour differ between exchanges more than the last one.
const cryptoTolerances: Tolerances = { close: { percent: 3 }, high: { percent: 8 }, low: { percent: 8 } }
// The same trades of the same exchange, but providers leave out different ones.
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

/** Histories are confirmed with each request: thousands of them would be too many figures to remember. */
export const nothingKnown: AgreementPolicy<unknown>['lastKnown'] = { find: () => undefined, remember: () => undefined }
