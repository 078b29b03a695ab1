import type { PublicBody } from './publicBody.ts'

/** A successful public read. */
export interface PublicAnswer {
  readonly status: 200
  readonly headers: Readonly<Record<string, string>>
  readonly body: PublicBody
}

/** A cache may store the answer, and has to ask before each use: the content may change at any time. */
export const revalidated = 'no-cache'
/** The content of the address never changes. */
export const immutable = 'public, max-age=31536000, immutable'

/** `cacheControl` is the value of the Cache-Control header. */
export function publicJson(body: PublicBody, cacheControl: string): PublicAnswer {
  return publicAnswer(body, { 'content-type': 'application/json; charset=utf-8', 'cache-control': cacheControl })
}

/** A 200 with an entity tag and compressed forms, which may be cached by everyone. */
export function publicAnswer(body: PublicBody, headers: Readonly<Record<string, string>>): PublicAnswer {
  return { status: 200, headers, body }
}
