import { domainToUnicode } from 'node:url'
import { findUrlProblem } from '../../../outbound/urlGuard.ts'

/*
 * One article has many addresses: each feed, newsletter and search engine adds its own tracking parameters. We sell the
 * address without them and identify the article by what remains.
 */

const urlCharactersMax = 2_048
const mark =
  /^(?:utm_.*|at_.*|mc_[ce]id|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|twclid|igshid|_ga|_gl|cmp|cmpid|ocid|ftag|smid|sr_share|ns_[a-z]+|ref_src|partner|mbid|ito|xtor)$/i

/** Undefined when the text is not the address of a web page. */
export function cleanUrl(text: string): string | undefined {
  const url = URL.parse(text.trim())
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined
  // Readers cannot open an address of a private network, and must not be led to their own devices.
  if (findUrlProblem(url.href) !== undefined || !/[.:]/.test(url.hostname)) return undefined
  if (isDisguised(url.hostname)) return undefined
  url.hash = ''
  // Parameters are removed by hand, because URLSearchParams would re-encode those that stay.
  const remaining = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !mark.test(pair.split('=')[0] ?? ''))
  // The question mark is removed with the parameters, so that it does not become part of the first one that stays.
  url.search = remaining.length === 0 ? '' : `?${remaining.join('&')}`
  return url.href.length > urlCharactersMax ? undefined : url.href
}

const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]

/** A name that mixes these scripts is made to be taken for another. Browsers show such names in ASCII. */
function isDisguised(hostname: string): boolean {
  const labels = domainToUnicode(hostname).split('.')
  return labels.some((label) => scripts.filter((script) => script.test(label)).length > 1)
}

/** Key of a clean address. Scheme, `www.`, a trailing slash and the order of parameters make no difference. */
export function urlKeyOf(clean: string): string {
  const url = new URL(clean)
  const host = url.host.replace(/^www\./, '')
  const path = url.pathname.replace(/\/+$/, '')
  const query = url.search.slice(1).split('&').sort().join('&')
  return query === '' ? `${host}${path}` : `${host}${path}?${query}`
}
