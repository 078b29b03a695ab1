import { isoTime, systemClock } from '@tollbook/core/clock'
import { readAddress, writeAddress } from './address.ts'
import type { Parameters } from './api.ts'
import { all, element, oneOf } from './element.ts'

const firstDay = '1970-01-01'
const quartersShown = 12
const dayMs = 86_400_000

export interface Period {
  /** The selected days, month or quarter, as parameters of the reports. */
  range(): Parameters
  /** Reads the fields from the address. Selects the last 30 days if the address has no period. */
  restore(): void
  showAll(): void
}

/** Creates the form of days, month and quarter. The address of the page stores its values. */
export function createPeriod(form: HTMLElement, onChange: () => void): Period {
  const fields = {
    from: oneOf(HTMLInputElement, '#from', form),
    to: oneOf(HTMLInputElement, '#to', form),
    month: oneOf(HTMLInputElement, '#month', form),
    quarter: oneOf(HTMLSelectElement, '#quarter', form),
  }
  const { from, to, month, quarter } = fields
  quarter.append(
    ...lastQuarters(dayBefore(0)).map((name) => element('option', { value: name }, name.replace('-', ' '))),
  )

  function range(): Parameters {
    if (month.value !== '') return { month: month.value }
    if (quarter.value !== '') return { quarter: quarter.value }
    return { from: from.value, to: to.value }
  }

  /** Empties the other fields, because a month, a quarter and a range of days exclude each other. */
  function keepOne(changed: EventTarget | null): void {
    const isDays = changed === from || changed === to
    for (const field of Object.values(fields))
      if (field !== changed && !(isDays && (field === from || field === to))) field.value = ''
  }

  /**
   * Writes the fields to the address. An empty range means the page's default, so "all days" is written as the first
   * day.
   */
  function keepAddress(isAll = false): void {
    const first = isAll ? firstDay : from.value
    writeAddress({ from: first, to: to.value, month: month.value, quarter: quarter.value })
  }

  form.addEventListener('submit', (event) => event.preventDefault())
  form.addEventListener('change', ({ target }) => {
    keepOne(target)
    keepAddress()
    onChange()
  })
  for (const button of all('button', form))
    button.addEventListener('click', () => {
      const days = button.dataset['days'] ?? 'all'
      from.value = days === 'all' ? '' : dayBefore(Number(days) - 1)
      to.value = ''
      keepOne(from)
      keepAddress(days === 'all')
      onChange()
    })
  return {
    range,
    restore() {
      const address = readAddress()
      from.value = address.from ?? ''
      to.value = address.to ?? ''
      month.value = address.month ?? ''
      quarter.value = address.quarter ?? ''
      if (address.from === firstDay) from.value = ''
      else if (Object.values(range()).every((value) => value === '')) from.value = dayBefore(29)
    },
    showAll() {
      for (const field of Object.values(fields)) field.value = ''
      keepAddress(true)
    },
  }
}

/** Returns the quarter of a day and the ones before it, newest first. */
export function lastQuarters(day: string): readonly string[] {
  const [year = 0, month = 0] = day.split('-').map(Number)
  const newest = year * 4 + Math.floor((month - 1) / 3)
  return Array.from({ length: quartersShown }, (_, back) => {
    const nth = newest - back
    return `${Math.floor(nth / 4)}-Q${(nth % 4) + 1}`
  })
}

/** Returns the current UTC day, or the one that many days ago. */
export function dayBefore(days: number): string {
  return isoTime(systemClock.nowMs() - days * dayMs).slice(0, 10)
}
