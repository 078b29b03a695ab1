/*
 * One article has many addresses: each feed, newsletter and search engine adds its own mark to follow readers. We sell the
 * address without marks, and know the article by what is left.
 */

const urlCharactersMax = 2_048
const mark =
  /^(?:utm_.*|at_.*|mc_[ce]id|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|twclid|igshid|_ga|_gl|cmp|cmpid|ocid|ftag|smid|sr_share|ns_[a-z]+|ref_src|partner|mbid|ito|xtor)$/i

/** Undefined when it is no address of a web page. */
export function cleanUrl(text: string): string | undefined {
  const url = URL.parse(text.trim())
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined
  if (url.username !== '' || url.password !== '') return undefined
  url.hash = ''
  // By hand: URLSearchParams would write the parameters that stay in its own way.
  const kept = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !mark.test(pair.split('=')[0] ?? ''))
  // With its own question mark, or one that begins the first parameter would be taken for it.
  url.search = kept.length === 0 ? '' : `?${kept.join('&')}`
  return url.href.length > urlCharactersMax ? undefined : url.href
}

/** Of a clean address. Scheme, `www.`, a slash at the end and the order of parameters make no other article. */
export function urlKeyOf(clean: string): string {
  const url = new URL(clean)
  const host = url.host.replace(/^www\./, '')
  const path = url.pathname.replace(/\/+$/, '')
  const query = url.search.slice(1).split('&').sort().join('&')
  return query === '' ? `${host}${path}` : `${host}${path}?${query}`
}
