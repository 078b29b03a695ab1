import type { PublicBody } from './publicBody.ts'

/** A successful public read. */
export interface PublicAnswer {
  readonly status: 200
  readonly headers: Readonly<Record<string, string>>
  readonly body: PublicBody
}

/** For what may change at any time: a cache may store it, and has to ask before each use. */
export const revalidated = 'no-cache'
/** For addresses whose content never changes. */
export const immutable = 'public, max-age=31536000, immutable'

export function publicJson(body: PublicBody, cacheControl: string): PublicAnswer {
  return publicAnswer(body, { 'content-type': 'application/json; charset=utf-8', 'cache-control': cacheControl })
}

export function publicAnswer(body: PublicBody, headers: Readonly<Record<string, string>>): PublicAnswer {
  return { status: 200, headers, body }
}
