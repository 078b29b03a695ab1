import type { IncomingMessage } from 'node:http'

// Visible ASCII without "#": clients do not send a fragment, and a proxy may remove it.
const targetCharacters = /^[!"$-~]+$/
const absoluteTarget = /^https?:\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?(?:[/?]|$)/i
const hostValue = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/

/** Finds violations of RFC 9112 and ambiguous headers that Node's parser accepts. */
export function findFramingProblem(request: IncomingMessage): string | undefined {
  const { headers, url = '', httpVersion } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return `the version must be HTTP/1.1 or HTTP/1.0 (got ${httpVersion})`
  if (!targetCharacters.test(url)) return 'the request target must be visible ASCII without a fragment (#)'
  if (!url.startsWith('/') && url !== '*' && !absoluteTarget.test(url))
    return 'the request target must be a path, such as /api/catalog, or a whole URL'
  if (headers.host === undefined && httpVersion === '1.1') return 'HTTP/1.1 needs a Host header'
  if (headers.host !== undefined && !hostValue.test(headers.host))
    return 'Host must be a name or address with an optional port'
  const encoding = headers['transfer-encoding']
  // Accept only `chunked`, because a service and a proxy that decode a body differently see different requests (RFC
  // 9112, 6.1).
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') return 'Transfer-Encoding must be chunked alone'
  if (encoding !== undefined && httpVersion !== '1.1') return 'Transfer-Encoding needs HTTP/1.1'
  if (/\bchunked\b/i.test(String(headers['te'] ?? ''))) return 'TE must not name chunked'
  return findRepeated(request.rawHeaders)
}

/** True if the request has an `Expect` header without `100-continue`. Node does not read expectations of HTTP/1.0. */
export function hasUnmetExpectation({ headers: { expect }, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.1' && expect !== undefined && !/(?:^|\W)100-continue(?:$|\W)/i.test(expect)
}

const single = new Set(['host', 'content-type'])

/** Finds a repeated Host or Content-Type. Node keeps the first of several values, and a proxy may keep the last one. */
function findRepeated(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    if (!single.has(name)) continue
    if (seen.has(name)) return `${name} must be given once`
    seen.add(name)
  }
  return undefined
}
