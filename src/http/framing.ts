import type { IncomingMessage } from 'node:http'

const targetCharacters = /^[\u0021-\u007e]+$/
const hostValue = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/

/** Finds violations of RFC 9112 that Node's parser accepts. Undefined when the request is well framed. */
export function findFramingProblem(request: IncomingMessage): string | undefined {
  if (!targetCharacters.test(request.url ?? '')) return 'the request target must be visible ASCII'
  const hosts = request.rawHeaders.filter(
    (_value, index) => index % 2 === 0 && /^host$/i.test(request.rawHeaders[index] ?? ''),
  )
  if (hosts.length > 1) return 'Host must be given once'
  if (request.headers.host !== undefined && !hostValue.test(request.headers.host))
    return 'Host must be a name or address with an optional port'
  return undefined
}
