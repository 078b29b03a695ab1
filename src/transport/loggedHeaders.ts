import type { IncomingHttpHeaders } from 'node:http'
import type { PaymentRail } from '../paywall/rail.ts'

const alwaysSecret = ['authorization', 'proxy-authorization', 'cookie', 'idempotency-key']
const charactersMax = 200

/**
 * Returns the headers of a request for the log, without credentials. Each rail names its own credentials, so a new rail
 * needs no change here.
 */
export function loggedHeaders(
  headers: IncomingHttpHeaders,
  rails: readonly Pick<PaymentRail, 'secretHeaders'>[],
): Readonly<Record<string, string>> {
  const secret = new Set([...alwaysSecret, ...rails.flatMap(({ secretHeaders }) => secretHeaders)])
  const shown = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    secret.has(name) ? '[secret]' : String(value).slice(0, charactersMax),
  ])
  return Object.fromEntries(shown)
}
