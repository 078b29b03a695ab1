import { domainToUnicode } from 'node:url'
import { findUrlProblem } from '../../../outbound/urlGuard.ts'

/*
 * Cleaning of article addresses. One article has many addresses, because feeds, newsletters and search engines add
 * tracking parameters.
 */

const urlCharactersMax = 2_048
const mark =
  /^(?:utm_.*|at_.*|mc_[ce]id|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|twclid|igshid|_ga|_gl|cmp|cmpid|ocid|ftag|smid|sr_share|ns_[a-z]+|ref_src|partner|mbid|ito|xtor)$/i

/**
 * Returns the address without its fragment and tracking parameters. Undefined if the text is not the public address of
 * a web page, or is too long.
 */
export function cleanUrl(text: string): string | undefined {
  const url = URL.parse(text.trim())
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined
  // Refuse addresses in private networks. Readers cannot open them, or would reach devices in their own network.
  if (findUrlProblem(url.href) !== undefined || !/[.:]/.test(url.hostname)) return undefined
  if (isDisguised(url.hostname)) return undefined
  url.hash = ''
  // Remove the parameters from the text. `URLSearchParams` would re-encode the remaining parameters.
  const remaining = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !mark.test(pair.split('=')[0] ?? ''))
  url.search = remaining.length === 0 ? '' : `?${remaining.join('&')}`
  return url.href.length > urlCharactersMax ? undefined : url.href
}

const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]

/** True if a host name mixes scripts to imitate another name. Browsers show such names in ASCII. */
function isDisguised(hostname: string): boolean {
  const labels = domainToUnicode(hostname).split('.')
  return labels.some((label) => scripts.filter((script) => script.test(label)).length > 1)
}

/**
 * Returns the key that the addresses of one article share. It ignores the scheme, `www.`, a trailing slash and the
 * order of the parameters.
 */
export function urlKeyOf(clean: string): string {
  const url = new URL(clean)
  const host = url.host.replace(/^www\./, '')
  const path = url.pathname.replace(/\/+$/, '')
  const query = url.search.slice(1).split('&').sort().join('&')
  return query === '' ? `${host}${path}` : `${host}${path}?${query}`
}
