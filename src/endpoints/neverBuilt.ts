import { Bug } from '../primitives/assert.ts'

/**
 * For a product of the price list whose handler does not exist yet: its parameters are checked, and it is then refused
 * before a quote, so nobody can pay for it.
 */
export function neverBuilt(what: string) {
  return {
    whyUnavailable: () => `${what} are not available on this server yet`,
    handle: () => Promise.reject(new Bug(`expected that ${what}, which are unavailable, are never sold`)),
  }
}
