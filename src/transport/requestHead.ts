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

/** Returns the header. Undefined if it is missing or blank. Node has removed spaces and tabs around the value. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = String(headers[name] ?? '')
  return value === '' ? undefined : value
}

// Longer headers are not parsed, because that takes as much time as several requests.
const negotiatedCharactersMax = 1_024

/** False if the header, such as `Accept`, is too long to be parsed. The header then counts as absent. */
export function isNegotiable({ req }: Pick<Context, 'req'>, name: string): boolean {
  return String(req.headers[name] ?? '').length <= negotiatedCharactersMax
}

/** True if the caller prefers HTML, as a browser does. Programs accept JSON, or any type. */
export function prefersHtml(context: Pick<Context, 'accepts' | 'req'>): boolean {
  return isNegotiable(context, 'accept') && context.accepts('json', 'html') === 'html'
}
