/** The comparable parts of an answer, keyed by the names of the fields that are sold. */
export type Figures = Readonly<Record<string, number | string>>

/** The largest distance at which two figures agree. Texts must be equal. */
export type Tolerance = { readonly percent: number } | { readonly points: number } | { readonly factor: number }

export type Tolerances = Readonly<Record<string, Tolerance>>

/** Returns the fields that both answers have and whose values differ by more than their tolerance. Texts must be equal. */
export function fieldsApart(one: Figures, other: Figures, tolerances: Tolerances): readonly string[] {
  return sharedFields(one, other).filter((field) => !isNear(one[field], other[field], tolerances[familyOf(field)]))
}

/**
 * Returns the family of a field. A series shares one tolerance: `close 2026-11-20` and `close 2026-11-21` use that of
 * `close`.
 */
export function familyOf(field: string): string {
  return field.split(' ', 1)[0] ?? field
}

/** Returns the fields that both answers have. Other fields cannot be compared. */
export function sharedFields(one: Figures, other: Figures): readonly string[] {
  return Object.keys(one).filter((field) => field in other)
}

function isNear(
  one: Figures[string] | undefined,
  other: Figures[string] | undefined,
  tolerance: Tolerance | undefined,
) {
  if (typeof one !== 'number' || typeof other !== 'number') return one === other
  if (tolerance === undefined) return true
  if ('points' in tolerance) return Math.abs(one - other) <= tolerance.points
  const [less, more] = one < other ? [one, other] : [other, one]
  // Equal volumes agree even at zero, which providers report for a share that was not traded.
  if ('factor' in tolerance) return more === less || (less > 0 && more <= less * tolerance.factor)
  return more - less <= (less * tolerance.percent) / 100
}
