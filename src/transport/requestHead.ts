import type { IncomingMessage } from 'node:http'

/** The path as sent, without its query. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** Returns a header. A blank header counts as absent. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = String(headers[name] ?? '').trim()
  return value === '' ? undefined : value
}
