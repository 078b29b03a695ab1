interface MediaRange {
  readonly type: string
  readonly weight: number
}

// A browser's `Accept` header has about 140 characters. A longer list does not come from a browser.
const charactersMax = 1_024

/**
 * True if the caller is a person with a browser: `Accept` names HTML with a higher weight than JSON. Programs send
 * `application/json`, or the range of all types, which does not count.
 */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined || accept.length > charactersMax) return false
  const ranges = accept.split(',').map(readRange)
  const weightOf = (type: string) => ranges.find((range) => range.type === type)?.weight ?? 0
  return weightOf('text/html') > weightOf('application/json')
}

/** A malformed weight counts as zero (RFC 9110, 12.4.2). */
function readRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
  return { type, weight: /^[01](?:\.\d{0,3})?$/.test(weight) ? Math.min(1, Number(weight)) : 0 }
}
