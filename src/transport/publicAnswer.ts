import type { PublicBody } from './publicBody.ts'

export interface PublicAnswer {
  readonly status: 200
  readonly headers: Readonly<Record<string, string>>
  readonly body: PublicBody
}

/** A cache can store the answer and must revalidate it before each use, because the content may change at any time. */
export const revalidated = 'no-cache'
export const immutable = 'public, max-age=31536000, immutable'

export function publicJson(body: PublicBody, cacheControl: string): PublicAnswer {
  return publicAnswer(body, { 'content-type': 'application/json; charset=utf-8', 'cache-control': cacheControl })
}

export function publicAnswer(body: PublicBody, headers: Readonly<Record<string, string>>): PublicAnswer {
  return { status: 200, headers, body }
}
