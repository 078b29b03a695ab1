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

export function publicJson(body: PublicBody, cacheControl: string): PublicAnswer {
  return publicAnswer(body, { 'content-type': 'application/json; charset=utf-8', 'cache-control': cacheControl })
}

export function publicAnswer(body: PublicBody, headers: Readonly<Record<string, string>>): PublicAnswer {
  return { status: 200, headers, body }
}
