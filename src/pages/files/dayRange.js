const dayS = 86_400

/**
 * First and last second of a chart over days: a day is a bar, so half a day of air on both sides. uPlot's own range is not
 * used, because it shows a single day as 2.7 years.
 */
export function rangeOfDays(days) {
  return [days[0] - dayS / 2, days.at(-1) + dayS / 2]
}

/** Steps of the labels below a chart over days. Shorter steps than a day repeat the label of the same day. */
export const dayStepsS = [1, 2, 7, 14, 30, 60, 90, 180, 365].map((days) => days * dayS)
