interface MediaRange {
  readonly type: string
  readonly weight: number
}

// The `Accept` header of a browser has about 140 characters. A longer list is not a browser's.
const charactersMax = 1_024

/**
 * Whether the caller is a person in front of a browser: `Accept` names HTML and weighs it above JSON. Programs send `application/json`, or the
 * range of all types, which does not count.
 */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined || accept.length > charactersMax) return false
  const ranges = accept.split(',').map(readRange)
  const weightOf = (type: string) => ranges.find((range) => range.type === type)?.weight ?? 0
  return weightOf('text/html') > weightOf('application/json')
}

/** A weight that is not well-formed counts as zero (RFC 9110, 12.4.2). */
function readRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
  return { type, weight: /^[01](?:\.\d{0,3})?$/.test(weight) ? Math.min(1, Number(weight)) : 0 }
}
