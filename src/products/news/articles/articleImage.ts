import { cleanUrl } from './articleUrl.ts'

/**
 * The address of an article's picture, which is passed on and never fetched. Undefined unless it is an `https` address of a public
 * host: readers load it, and must not be led into their own network or be seen on the way.
 */
export function imageOf(candidates: readonly (string | undefined)[]): string | undefined {
  return candidates
    .map((given) => (given !== undefined && /^\s*https:/i.test(given) ? cleanUrl(given) : undefined))
    .find((image) => image !== undefined)
}
