import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { characterCount, queryInteger, text } from './text.ts'

/** A search sends no request to a provider, so callers cannot use up a quota. */
export interface FreeSearch {
  readonly path: string
  readonly summary: string
  readonly result: z.ZodType
  readonly example: { readonly query: string }
  find(query: string, limit: number): readonly Json[]
}

const queryLengthMax = 100
export const resultsMax = 50

export const searchParameters = z.strictObject({
  query: text({
    expected: `1 to ${queryLengthMax} characters with a letter or digit`,
    shown: { minLength: 1, maxLength: queryLengthMax },
    test: (value) => characterCount(value) <= queryLengthMax && /[\p{L}\p{Nd}]/u.test(value),
  }),
  limit: queryInteger({ min: 1, max: resultsMax, default: 10 }),
})
