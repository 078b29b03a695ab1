import { readAddress, writeAddress } from './address.ts'
import type { Parameters } from './api.ts'
import { all, element, oneOf } from './element.ts'

const firstDay = '1970-01-01'
const quartersShown = 12
const dayMs = 86_400_000

export interface Period {
  /** Days, month or quarter, as the reports take them. */
  range(): Parameters
  /** Reads the fields from the address; without a period, the last 30 days. */
  restore(): void
  showAll(): void
}

/** The form of days, month and quarter. It is part of the address of the page. */
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

  /** A month, a quarter and two days are alternatives. */
  function keepOne(changed: EventTarget | null): void {
    const isDays = changed === from || changed === to
    for (const field of Object.values(fields))
      if (field !== changed && !(isDays && (field === from || field === to))) field.value = ''
  }

  /** An empty range of days is the standard of the page, so all days are written as the first one. */
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

/** The quarter of a day and those before it, newest first. */
export function lastQuarters(day: string): readonly string[] {
  const [year = 0, month = 0] = day.split('-').map(Number)
  const newest = year * 4 + Math.floor((month - 1) / 3)
  return Array.from({ length: quartersShown }, (_, back) => {
    const nth = newest - back
    return `${Math.floor(nth / 4)}-Q${(nth % 4) + 1}`
  })
}

/** The UTC day of now, or an earlier one. */
export function dayBefore(days: number): string {
  return new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)
}
