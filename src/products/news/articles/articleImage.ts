import { cleanUrl } from './articleUrl.ts'

/**
 * Returns the address of an article's picture, which is passed on and never fetched. Undefined unless it is an `https`
 * address of a public host. Readers load the picture, so the address must not point into their own network or reveal
 * them on the way.
 */
export function imageOf(candidates: readonly (string | undefined)[]): string | undefined {
  return candidates
    .map((given) => (given !== undefined && /^\s*https:/i.test(given) ? cleanUrl(given) : undefined))
    .find((image) => image !== undefined)
}
