/** The keys are the names of the sold fields, such as `price` or `close 2026-11-20`. */
export type Figures = Readonly<Record<string, number | string>>

/** Largest difference at which two numbers agree: in per cent, in absolute points, or as a factor. Texts must be equal. */
export type Tolerance = { readonly percent: number } | { readonly points: number } | { readonly factor: number }

export type Tolerances = Readonly<Record<string, Tolerance>>

export function fieldsApart(one: Figures, other: Figures, tolerances: Tolerances): readonly string[] {
  return sharedFields(one, other).filter((field) => !isNear(one[field], other[field], tolerances[familyOf(field)]))
}

/** All fields of a family share one tolerance: `close 2026-11-20` and `close 2026-11-21` use the tolerance of `close`. */
export function familyOf(field: string): string {
  return field.split(' ', 1)[0] ?? field
}

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
  // Equal volumes agree even at zero, because providers report zero for a share without a trade.
  if ('factor' in tolerance) return more === less || (less > 0 && more <= less * tolerance.factor)
  return more - less <= (less * tolerance.percent) / 100
}
