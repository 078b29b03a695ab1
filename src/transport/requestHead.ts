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

/** True if the request comes from a person with a browser. Programs accept JSON, or any type. */
export function prefersHtml(context: Pick<Context, 'accepts'>): boolean {
  return context.accepts('json', 'html') === 'html'
}
