/**
 * Content codings of the service's bodies, smallest form first. If a client weighs two the same, the first one is
 * chosen.
 */
export const contentCodings = ['br', 'gzip'] as const
export type ContentCoding = (typeof contentCodings)[number]

/**
 * Chooses the coding with the client's highest weight (RFC 9110, 12.5.3). Undefined means the unencoded body. A client
 * that refuses even that still gets it, because an answer in the wrong form is better than none.
 */
export function chooseCoding(
  acceptEncoding: string,
  available: readonly ContentCoding[] = contentCodings,
): ContentCoding | undefined {
  const weights = new Map(acceptEncoding.split(',').map(readWeight))
  const unlisted = weights.get('*') ?? 0
  let chosen: ContentCoding | undefined
  // An unlisted `identity` starts at weight 0: it is acceptable, but a client that lists a coding prefers that coding.
  let best = weights.get('identity') ?? unlisted
  for (const coding of available) {
    const weight = weights.get(coding) ?? unlisted
    if (weight > best || (weight === best && weight > 0 && chosen === undefined)) [chosen, best] = [coding, weight]
  }
  return chosen
}

/** A malformed weight counts as zero, because every client can read the unencoded body. */
function readWeight(text: string): readonly [coding: string, weight: number] {
  const [coding = '', parameter] = text.split(';', 2).map((part) => part.trim().toLowerCase())
  if (parameter === undefined) return [coding, 1]
  const [, weight = '0'] = /^q\s*=\s*([01](?:\.\d{0,3})?)$/.exec(parameter) ?? []
  return [coding, Math.min(1, Number(weight))]
}
