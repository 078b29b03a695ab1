import type { IncomingMessage } from 'node:http'

/** The path without its query, as it was sent. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** A header that is blank is absent. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = String(headers[name] ?? '').trim()
  return value === '' ? undefined : value
}
