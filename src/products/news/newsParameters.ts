import { z } from 'zod'
import { newsCategories } from './articles/newsCategory.ts'
import type { ArticlePage, ArticlePosition, ArticleQuestion } from './newsSearch.ts'
import { characterCount, oneOf, queryInteger, text } from '../../product/text.ts'

const query = text({
  expected: '1 to 200 characters with a letter, a digit or the sign of a currency',
  shown: { minLength: 1, maxLength: 200 },
  test: (value) => /[\p{L}\p{N}\p{Sc}]/u.test(value) && characterCount(value) <= 200,
})

const language = text({
  expected: 'a language of ISO 639 in lower case, such as en',
  shown: { minLength: 2, maxLength: 3, pattern: '^[a-z]{2,3}$' },
  test: (value) => /^[a-z]{2,3}$/.test(value),
})

const instantForm = z.union([z.iso.date(), z.iso.datetime({ offset: true })])
const instantLengthMax = 35
const instant = text({
  expected: 'a date such as 2026-11-20, or a time with its zone such as 2026-11-20T12:00:00Z',
  shown: { minLength: 10, maxLength: instantLengthMax },
  test: (value) => value.length <= instantLengthMax && instantForm.safeParse(value).success,
})

const cursorForm = /^(\d{13})-([0-9a-f]{64})$/
const cursor = text({
  expected: 'the nextCursor of an earlier answer',
  shown: { minLength: 78, maxLength: 78, pattern: cursorForm.source },
  test: (value) => cursorForm.test(value),
})

export const newsParameters = z
  .strictObject({
    category: oneOf(newsCategories).exactOptional(),
    query: query.exactOptional(),
    language: language.exactOptional(),
    limit: queryInteger({ min: 1, max: 50, default: 10 }),
    from: instant.exactOptional(),
    to: instant.exactOptional().meta({ description: 'the same, exclusive' }),
    sort: oneOf(['newest', 'oldest']).exactOptional().meta({ default: 'newest' }),
    cursor: cursor.exactOptional(),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || Date.parse(from) < Date.parse(to), {
    path: ['to'],
    error: 'must be later than from',
  })

export type NewsOrder = z.infer<typeof newsParameters>

/**
 * Converts an order to a question. `page` is absent if the order has no range and no cursor, and does not sort by the
 * oldest. Providers can also search for such newest articles.
 */
export function questionOf({ category, query: words, language: spoken, limit, ...range }: NewsOrder): ArticleQuestion {
  const { from, to, sort, cursor: after } = range
  const page: ArticlePage = {
    fromMs: from === undefined ? undefined : Date.parse(from),
    toMs: to === undefined ? undefined : Date.parse(to),
    isOldestFirst: sort === 'oldest',
    after: after === undefined ? undefined : positionOf(after),
  }
  const isWhole = from === undefined && to === undefined && sort !== 'oldest' && after === undefined
  return { category, query: words, language: spoken, limit, ...(isWhole ? {} : { page }) }
}

/** Returns the cursor of an article. It stays valid when newer articles arrive. */
export function cursorOf({ publishedAtMs, urlHash }: ArticlePosition): string {
  return `${publishedAtMs}-${urlHash}`
}

function positionOf(text: string): ArticlePosition | undefined {
  const [, publishedAtMs, urlHash] = cursorForm.exec(text) ?? []
  return urlHash === undefined ? undefined : { publishedAtMs: Number(publishedAtMs), urlHash }
}
