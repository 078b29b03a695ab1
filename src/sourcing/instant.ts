const isoInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/i
// A date of RFC 822 whose zone JavaScript can parse.
const mailInstant =
  /^(?:[a-z]{3,9},?\s+)?\d{1,2}\s+[a-z]{3,9}\.?\s+\d{2,4}\s+\d{1,2}:\d{2}(?::\d{2})?\s+(?:[+-]\d{4}|Z|UTC?|GMT|[ECMP][SD]T)$/i
const compactInstant = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/

/**
 * Parses a time with a zone into milliseconds since 1970. Undefined if the zone is missing: JavaScript would then use
 * the zone of this machine, which differs from the publisher's zone.
 */
export function instantOf(text: string): number | undefined {
  const time = text.trim().replace(compactInstant, '$1-$2-$3T$4:$5:$6Z')
  if (!isoInstant.test(time) && !mailInstant.test(time)) return undefined
  const ms = Date.parse(time)
  return Number.isNaN(ms) ? undefined : ms
}
