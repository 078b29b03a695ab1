import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'

/** The path as sent, without its query, and without scheme and host if the target is a whole URL. */
export function pathOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const end = url.indexOf('?')
  const target = end === -1 ? url : url.slice(0, end)
  if (target.startsWith('/')) return target
  const [, path = target] = /^https?:\/\/[^/]*(.*)$/i.exec(target) ?? []
  return path === '' ? '/' : path
}

/** Returns a header. A blank header counts as absent. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = String(headers[name] ?? '').trim()
  return value === '' ? undefined : value
}

/** True if the caller is a person with a browser: programs accept JSON, or any type. */
export function prefersHtml(context: Pick<Context, 'accepts'>): boolean {
  return context.accepts('json', 'html') === 'html'
}
