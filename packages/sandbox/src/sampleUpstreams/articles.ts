/** The URL at example.com does not exist. */
export interface Article {
  readonly category: string
  readonly title: string
  readonly url: string
  readonly publishedMs: number
}

/** Titles contain words for which callers are likely to search. */
const titles: Readonly<Record<string, readonly string[]>> = {
  business: [
    'Central bank leaves interest rates where they are, and the euro gains',
    'Stock markets close higher after earnings of large companies',
    'Inflation slows for the third month as economy grows',
  ],
  crypto: [
    'Bitcoin holds its range while Ethereum gains',
    'Solana developers agree on a faster client',
    'Blockchain payments reach small retailers',
  ],
  entertainment: [
    'Film festival opens with a surprise comedy',
    'Music streaming service pays its artists weekly',
    'Television series ends after ten seasons',
  ],
  general: [
    'City opens its new bridge a year early',
    'Weather calm across the country for the weekend',
    'Public libraries lend more than ever',
  ],
  health: [
    'Hospital cuts waiting times by a third',
    'New vaccine enters its last trial',
    'Doctors recommend walking, medicine agrees',
  ],
  science: [
    'Space telescope sees the farthest galaxy so far',
    'Physics laboratory measures the kilogram again',
    'Climate research ship returns from the Arctic',
  ],
  sports: [
    'Football champions lose at home',
    'Tennis final goes to the fifth set',
    'Olympic swimmer breaks her own record',
  ],
  tech: [
    'Artificial intelligence (AI) learns to say that it does not know',
    'Semiconductor makers open a new chip factory for AI',
    'Software update makes old phones faster',
  ],
  world: [
    'Neighbours sign a trade agreement after long talks',
    'Government of a small island plants a forest',
    'United Nations meets on clean water',
  ],
}

const minuteMs = 60 * 1000
// Interval after which each title appears again with a new URL, so that there is always recent news.
const repeatsMs = 6 * 60 * minuteMs
const spacingMs = 13 * minuteMs

export function articlesAt(nowMs: number): readonly Article[] {
  const all = Object.entries(titles).flatMap(([category, list]) => list.map((title) => ({ category, title })))
  return all
    .map(({ category, title }, index): Article => {
      const publishedMs = nowMs - ((nowMs - index * spacingMs) % repeatsMs)
      const slug = `${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}-${Math.floor(publishedMs / minuteMs)}`
      const url = `https://example.com/sample/${category}/${slug}`
      return { category, title: `Sample: ${title}`, url, publishedMs }
    })
    .toSorted((one, other) => other.publishedMs - one.publishedMs)
}

export const articleCategories: readonly string[] = Object.keys(titles)
