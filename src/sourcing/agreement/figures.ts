/** The comparable parts of an answer, by the names of the fields that are sold. */
export type Figures = Readonly<Record<string, number | string>>

/** The distance at which two figures still describe the same. Texts must be equal. */
export type Tolerance = { readonly percent: number } | { readonly points: number } | { readonly factor: number }

export type Tolerances = Readonly<Record<string, Tolerance>>

/** The fields that both have and that differ by more than their tolerance, or in their text. */
export function fieldsApart(one: Figures, other: Figures, tolerances: Tolerances): readonly string[] {
  return sharedFields(one, other).filter((field) => !isNear(one[field], other[field], tolerances[familyOf(field)]))
}

/** The figures of a series share a tolerance: those of `close 2026-11-20` and `close 2026-11-21` are that of `close`. */
export function familyOf(field: string): string {
  return field.split(' ', 1)[0] ?? field
}

/** Only fields that both answers have can be compared. */
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
  // A share that was not traded has the volume zero at every provider.
  if ('factor' in tolerance) return more === less || (less > 0 && more <= less * tolerance.factor)
  return more - less <= (less * tolerance.percent) / 100
}
