import { z } from 'zod'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { neverBuilt } from './neverBuilt.ts'
import { characterCount, oneOf, queryInteger, text } from './text.ts'

const newsCategories = [
  'business',
  'crypto',
  'entertainment',
  'general',
  'health',
  'science',
  'sports',
  'tech',
  'world',
] as const

const query = text({
  expected: '1 to 200 characters, not only spaces',
  shown: { minLength: 1, maxLength: 200 },
  test: (value) => value.trim() !== '' && characterCount(value) <= 200,
})

export function createNews(): Endpoint {
  return defineEndpoint({
    path: '/api/data/news',
    method: 'GET',
    summary: 'News articles',
    schema: z.strictObject({
      category: oneOf(newsCategories).exactOptional(),
      query: query.exactOptional(),
      limit: queryInteger({ min: 1, max: 50, default: 10 }),
    }),
    ...neverBuilt('news articles'),
  })
}
