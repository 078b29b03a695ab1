import { isoTime } from '@tollbook/core/clock'
import { type Article, articlesAt, mentions, type Wanted, wordsOf } from './articles.ts'
import { json, plain, type SampleProvider } from './sampleProvider.ts'

/**
 * The article list of `/api/v2/doc/doc`. GDELT reports errors as plain text with status 200, and an empty result as an
 * empty object.
 */
export const gdelt: SampleProvider = ({ path, query, nowMs }) => {
  if (path !== '/api/v2/doc/doc') return plain('404 Not Found', 404)
  const asked = query.get('query') ?? ''
  if (asked.length < 3 || asked.length > queryMax) return plain('Your query was too short or too long.\n')
  if (query.get('mode')?.toLowerCase() !== 'artlist' || query.get('format') !== 'json') return plain('Invalid mode.\n')
  const wanted = wantedOf(asked.replaceAll(operator, ' '))
  const articles = articlesAt(nowMs).filter((article) => wanted.words.length === 0 || mentions(article, wanted))
  const most = Number(query.get('maxrecords') ?? '75')
  return json(articles.length === 0 ? {} : { articles: articles.slice(0, most).map(entryOf) })
}

const queryMax = 250
const operator = /-?\b(?:sourcelang|sourcecountry|domain|domainis|theme|tone|near\d+|repeat\d+):\S+/gi
const gridMs = 15 * 60 * 1000

/** All words must match, unless OR joins them. The words of a phrase count separately. */
function wantedOf(text: string): Wanted {
  const words = wordsOf(text.replaceAll(/\bOR\b/g, ' '))
  return { words, enough: /\bOR\b/.test(text) ? 'one' : 'all' }
}

function entryOf({ title, url, publishedMs }: Article) {
  // GDELT rounds the time at which it first saw an article down to 15 minutes.
  const seenMs = Math.floor(publishedMs / gridMs) * gridMs
  return {
    url,
    url_mobile: '',
    // GDELT puts a space before the punctuation marks of titles.
    title: title.replaceAll(/([:,])/g, ' $1'),
    seendate: isoTime(seenMs)
      .replaceAll(/[-:]/g, '')
      .replace(/\.\d+Z$/, 'Z'),
    socialimage: '',
    domain: 'example.com',
    language: 'English',
    sourcecountry: 'United States',
  }
}
