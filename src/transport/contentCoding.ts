/** Codings of bodies that we make, the smallest form first: the order of choice when a client weighs two the same. */
export const contentCodings = ['br', 'gzip'] as const
export type ContentCoding = (typeof contentCodings)[number]

/**
 * The coding that a client wants most, by the weights of RFC 9110, 12.5.3. Undefined means the body as it is, also for a
 * client that refuses even that: an answer in the wrong form is of more use than none.
 */
export function chooseCoding(
  acceptEncoding: string,
  available: readonly ContentCoding[] = contentCodings,
): ContentCoding | undefined {
  const weights = new Map(acceptEncoding.split(',').map(readWeight))
  const unlisted = weights.get('*') ?? 0
  let chosen: ContentCoding | undefined
  // The body as it is needs no mention to be accepted, but a client that names a coding prefers it.
  let best = weights.get('identity') ?? unlisted
  for (const coding of available) {
    const weight = weights.get(coding) ?? unlisted
    if (weight > best || (weight === best && weight > 0 && chosen === undefined)) [chosen, best] = [coding, weight]
  }
  return chosen
}

/** A weight that is not well-formed counts as zero: the body as it is cannot be misread. */
function readWeight(text: string): readonly [coding: string, weight: number] {
  const [coding = '', parameter] = text.split(';', 2).map((part) => part.trim().toLowerCase())
  if (parameter === undefined) return [coding, 1]
  const [, weight = '0'] = /^q\s*=\s*([01](?:\.\d{0,3})?)$/.exec(parameter) ?? []
  return [coding, Math.min(1, Number(weight))]
}
