import { isoTime, systemClock } from '@tollbook/core/clock'
import { readPageAddress, writePageAddress } from './pageAddress.ts'
import type { Parameters } from './api.ts'
import { all, element, oneOf } from './element.ts'

/** All days are a range from this day, so that field, address and request have the same value. */
const firstDay = '1970-01-01'
const quartersShown = 12
const dayMs = 86_400_000

export interface Period {
  /** Returns the period as parameters of the reports. */
  range(): Parameters
  /** Reads the period from the address. If it has none, selects the last 30 days. */
  restore(): void
  showAll(): void
}

export function createPeriod(form: HTMLElement, onChange: () => void): Period {
  const quarter = oneOf(HTMLSelectElement, '#quarter', form)
  const input = (id: string) => oneOf(HTMLInputElement, `#${id}`, form)
  const fields = { from: input('from'), to: input('to'), month: input('month'), quarter }
  const { from, to } = fields
  quarter.append(
    ...lastQuarters(dayBefore(0)).map((name) => element('option', { value: name }, name.replace('-', ' '))),
  )
  const range = () => Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]))

  /** Fills in the chosen fields. Empties the others, because a month, a quarter and a range of days exclude each other. */
  function choose(chosen: Parameters): void {
    for (const [name, field] of Object.entries(fields)) field.value = chosen[name] ?? ''
    writePageAddress(range())
  }

  form.addEventListener('submit', (event) => event.preventDefault())
  form.addEventListener('change', ({ target }) => {
    const isDays = target === from || target === to
    const changed = Object.entries(fields).filter(([, field]) => field === target || (isDays && field.type === 'date'))
    choose(Object.fromEntries(changed.map(([name, { value }]) => [name, value])))
    onChange()
  })
  for (const button of all('button', form))
    button.addEventListener('click', () => {
      // A button without a number of days selects all days.
      const days = Number(button.dataset['days'])
      choose({ from: Number.isNaN(days) ? firstDay : dayBefore(days - 1) })
      onChange()
    })
  return {
    range,
    restore() {
      const address = readPageAddress()
      for (const [name, field] of Object.entries(fields)) field.value = address[name] ?? ''
      // Today counts, so these are 30 days.
      if (Object.values(fields).every(({ value }) => value === '')) from.value = dayBefore(29)
    },
    showAll: () => choose({ from: firstDay }),
  }
}

/** Returns the quarters, newest first, from the quarter that contains the day. */
export function lastQuarters(day: string): readonly string[] {
  const [year = 0, month = 0] = day.split('-').map(Number)
  const newest = year * 4 + Math.floor((month - 1) / 3)
  return Array.from({ length: quartersShown }, (_, back) => {
    const nth = newest - back
    return `${Math.floor(nth / 4)}-Q${(nth % 4) + 1}`
  })
}

function dayBefore(days: number): string {
  return isoTime(systemClock.nowMs() - days * dayMs).slice(0, 10)
}
