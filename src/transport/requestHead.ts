import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'

/** Returns the path as sent, without the query. If the target is a whole URL, also removes its scheme and host. */
export function pathOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const end = url.indexOf('?')
  const target = end === -1 ? url : url.slice(0, end)
  if (target.startsWith('/')) return target
  const [, path = target] = /^https?:\/\/[^/]*(.*)$/i.exec(target) ?? []
  return path === '' ? '/' : path
}

/** Returns a header. Undefined if the header is missing or blank. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = String(headers[name] ?? '').trim()
  return value === '' ? undefined : value
}

// Maximum of characters that are negotiated. Parsing the 16 KiB that a head may have takes 2 ms, as much as ten
// requests.
const negotiatedCharactersMax = 1_024

/** True if a header such as `Accept` is short enough to be parsed. A longer one counts as absent. */
export function isNegotiable({ req }: Pick<Context, 'req'>, name: string): boolean {
  return String(req.headers[name] ?? '').length <= negotiatedCharactersMax
}

/** True if the request comes from a person with a browser. Programs accept JSON, or any type. */
export function prefersHtml(context: Pick<Context, 'accepts' | 'req'>): boolean {
  return isNegotiable(context, 'accept') && context.accepts('json', 'html') === 'html'
}
