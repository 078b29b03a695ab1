/*
 * Times in bodies have one form, `2026-11-21T10:00:00.000Z`. Many events share a day, so a day is worked out once.
 */

const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const dayCharacters = 10
// More than ten years of days.
const daysMax = 4_096

const days = new Map<string, number>()

/** Undefined when the text is not a time of that form. */
export function readUtcTime(text: string): number | undefined {
  if (!form.test(text)) return undefined
  const dayMs = readDay(text.slice(0, dayCharacters))
  const [hours, minutes, seconds] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)]
  if (Number.isNaN(dayMs) || hours > 23 || minutes > 59 || seconds > 59) return undefined
  const ms = twoDigits(text, 20) * 10 + (text.charCodeAt(22) - zero)
  return dayMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
}

/** NaN when the calendar has no such day. */
function readDay(day: string): number {
  const known = days.get(day)
  if (known !== undefined) return known
  const ms = Date.parse(`${day}T00:00:00.000Z`)
  // 30 February is turned into a day of March by some readers; here it is none.
  const dayMs = Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(day) ? Number.NaN : ms
  if (days.size >= daysMax) days.clear()
  days.set(Buffer.from(day).toString(), dayMs)
  return dayMs
}

const zero = 48

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - zero) * 10 + text.charCodeAt(at + 1) - zero
}
