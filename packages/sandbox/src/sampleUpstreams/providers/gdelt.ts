import { isoTime } from '@tollbook/core/clock'
import { type Article, articlesAt } from '../articles.ts'
import { json, plain, type SampleProvider } from '../sampleProvider.ts'

/** Like GDELT, answers an empty object if no article matches. */
export const gdelt: SampleProvider = ({ path, query, nowMs }) => {
  if (path !== '/api/v2/doc/doc') return plain('404 Not Found', 404)
  const asked = query.get('query') ?? ''
  const words = wordsOf(asked.replaceAll(/\bOR\b|\bsourcelang:\S+/g, ' '))
  // Number of words that must match: one if OR joins the words, otherwise all. The words of a phrase count separately.
  const enough = /\bOR\b/.test(asked) ? 1 : words.length
  const articles = articlesAt(nowMs).filter(({ title, category }) => {
    const own = wordsOf(`${title} ${category}`)
    return words.filter((word) => own.includes(word)).length >= enough
  })
  return json(articles.length === 0 ? {} : { articles: articles.map(entryOf) })
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

function entryOf({ title, url, publishedMs }: Article) {
  return {
    url,
    // Put a space before punctuation marks, as GDELT does in titles.
    title: title.replaceAll(/([:,])/g, ' $1'),
    seendate: isoTime(publishedMs)
      .replaceAll(/[-:]/g, '')
      .replace(/\.\d+Z$/, 'Z'),
    domain: 'example.com',
    language: 'English',
  }
}
