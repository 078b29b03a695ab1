import type { PublicBody } from './publicBody.ts'

export interface PublicAnswer {
  readonly status: 200
  readonly headers: Readonly<Record<string, string>>
  readonly body: PublicBody
}

/**
 * Value of Cache-Control: a cache can store the answer and must revalidate it before each use, because the content may
 * change at any time.
 */
export const revalidated = 'no-cache'
export const immutable = 'public, max-age=31536000, immutable'

/** Creates a public answer in JSON. `cacheControl` is the value of the Cache-Control header. */
export function publicJson(body: PublicBody, cacheControl: string): PublicAnswer {
  return publicAnswer(body, { 'content-type': 'application/json; charset=utf-8', 'cache-control': cacheControl })
}

/** Creates a 200 with an entity tag and compressed forms, which any cache can store. */
export function publicAnswer(body: PublicBody, headers: Readonly<Record<string, string>>): PublicAnswer {
  return { status: 200, headers, body }
}
