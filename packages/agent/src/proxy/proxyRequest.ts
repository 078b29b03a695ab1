import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { hostOrigin } from '../policy/policy.ts'
import { methods } from '../walletWire.ts'

/** A request for the service, or the reason why the proxy refuses it with this status. */
export type ProxyRequest =
  | {
      readonly method: (typeof methods)[number]
      readonly url: string
      readonly headers: readonly [string, string][]
    }
  | { readonly status: number; readonly refused: string }

export interface ProxyQuestion {
  readonly method: string | undefined
  /** As received, not decoded. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly port: number
  readonly key: string
}

/**
 * Requires the proxy's key, because every program of this machine and every web page can reach the port of the proxy.
 * Requests of web pages are refused by the headers that a browser sends.
 */
export function readProxyRequest({ method, path, headers, port, key }: ProxyQuestion): ProxyRequest {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (!hosts.includes(headers.host ?? '')) return refuse(403, `the Host header must be ${hosts.join(' or ')}`)
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined)
    return refuse(403, 'requests of web pages are refused')
  const [, first = '', ...rest] = path.split('/')
  const inPath = isKey(first, key)
  const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? headers['x-api-key']
  if (!inPath && !(typeof given === 'string' && isKey(given, key)))
    return refuse(401, 'the key of the proxy is missing: give it as the API key, or as the first part of the path')
  const known = z.enum(methods).safeParse(method)
  if (!known.success) return refuse(405, `the method must be one of ${methods.join(', ')}`)
  const [host = '', ...parts] = inPath ? rest : [first, ...rest]
  const url = `${hostOrigin(host)}/${parts.join('/')}`
  // Refuse a segment that the URL parser reads as another host, for example with a user name in front.
  if (!URL.canParse(url) || new URL(url).host !== host)
    return refuse(400, 'the path must begin with the host of the service, as the policy writes it')
  return { method: known.data, url, headers: forwarded(headers) }
}

function refuse(status: number, refused: string): ProxyRequest {
  return { status, refused }
}

function isKey(given: string, key: string): boolean {
  // Compare digests, because `timingSafeEqual` accepts inputs of equal length only.
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(key))
}

// Headers that are forwarded. An open payment is found by the whole request. If other headers were forwarded, a client
// that changes one for a retry would pay again.
const forwardedNames = [
  'accept',
  'accept-language',
  'anthropic-beta',
  'anthropic-version',
  'content-type',
  'idempotency-key',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'openai-beta',
]

function forwarded(headers: IncomingHttpHeaders): readonly [string, string][] {
  return forwardedNames.flatMap((name): [string, string][] => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
}
