/*
 * Times in bodies have one form, `2026-11-21T10:00:00.000Z`. Many events share a day, so the day is worked out once.
 */

const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const dayCharacters = 10

let knownDay = ''
let knownDayMs = 0

/** Undefined when it is no time of that form. */
export function readUtcTime(text: string): number | undefined {
  if (!form.test(text)) return undefined
  if (!text.startsWith(knownDay) || knownDay === '') {
    const dayMs = Date.parse(`${text.slice(0, dayCharacters)}T00:00:00.000Z`)
    // 30 February is turned into a day of March by some readers; here it is none.
    if (Number.isNaN(dayMs) || !new Date(dayMs).toISOString().startsWith(text.slice(0, dayCharacters))) return undefined
    knownDay = text.slice(0, dayCharacters)
    knownDayMs = dayMs
  }
  const [hours, minutes, seconds] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)]
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined
  const ms = twoDigits(text, 20) * 10 + (text.charCodeAt(22) - zero)
  return knownDayMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
}

const zero = 48

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - zero) * 10 + text.charCodeAt(at + 1) - zero
}
