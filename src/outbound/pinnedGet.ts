import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { assert } from '@tollbook/core/assert'
import { type EgressRules, judgeTarget } from './egressRules.ts'
import { findUrlProblem, type Target, targetOf } from './urlGuard.ts'

/** A GET request, whose connection the egress rules judge. Redirects are returned and not followed. */
export interface PinnedRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /**
   * If the operator chose this origin, any port is allowed, and an IP address may be private. A host name must still
   * lead to the public web.
   */
  readonly isChosen: boolean
}

export type PinnedGet = (request: PinnedRequest) => Promise<PinnedReply>

export type PinnedReply =
  | { readonly kind: 'answered'; readonly response: Response }
  /** `problem` continues a sentence that begins with "an address that". */
  | { readonly kind: 'forbidden'; readonly problem: string }

/**
 * Resolves a name once and connects only to the checked addresses. A check before `fetch` would be unsafe: a name
 * server can return one address for the check and another for the connection.
 */
export function createPinnedGet(rules: EgressRules): PinnedGet {
  return async (request) => {
    const { url, isChosen } = request
    const target = targetOf(url.href)
    const problem = isChosen ? undefined : findUrlProblem(url.href, rules.allowHosts)
    if (target === undefined || problem !== undefined)
      return { kind: 'forbidden', problem: problem ?? 'must begin with http:// or https://' }
    const verdict = await judgeTarget(isChosen ? rulesFor(rules, target) : rules, target)
    if (verdict.kind === 'reachable')
      return { kind: 'answered', response: await get(request, pinnedLookup(verdict.addresses)) }
    if (verdict.kind === 'forbidden') return { kind: 'forbidden', problem: 'must not lead to a private address' }
    throw Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' })
  }
}

/** Allows a chosen IP address. A chosen name gets only its port, because its owner decides which address it has. */
function rulesFor(rules: EgressRules, { hostname, port }: Target): EgressRules {
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
  return { ...rules, ports: [port], allowHosts: [...rules.allowHosts, ...(isAddress ? [`${hostname}:${port}`] : [])] }
}

/** Answers every name with the checked addresses, so that no second lookup can change them. */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  return (_hostname, options, answer) => {
    const [first] = known
    assert(first !== undefined, 'a reachable target has an address')
    if (options.all === true) answer(null, known)
    else answer(null, first.address, first.family)
  }
}

function get({ url, headers, signal }: PinnedRequest, lookup: LookupFunction): Promise<Response> {
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest
  const options = {
    // Do not reuse the connection, so that the addresses for the next request are checked again.
    agent: false,
    headers: { ...headers, 'accept-encoding': 'gzip, deflate, br' },
    signal,
    lookup,
    autoSelectFamily: true,
  }
  return new Promise((resolve, reject) => {
    const request = send(url, options, (incoming) => {
      try {
        resolve(responseOf(incoming))
      } catch (error) {
        incoming.destroy()
        reject(error instanceof Error ? error : new Error('the answer cannot be read', { cause: error }))
      }
    })
    request.on('error', reject)
    request.end()
  })
}

const bodiless = new Set([204, 205, 304])

function responseOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, headersDistinct } = incoming
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  )
  if (bodiless.has(status)) {
    incoming.resume()
    return new Response(null, { status, headers })
  }
  return new Response(Readable.toWeb(decompressed(incoming)), { status, headers })
}

const decompressors = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

function decompressed(incoming: IncomingMessage): Readable {
  const create = decompressors.get(incoming.headers['content-encoding']?.trim().toLowerCase() ?? '')
  if (create === undefined) return incoming
  const plain = create()
  incoming.on('error', (error) => plain.destroy(error))
  plain.once('close', () => incoming.destroy())
  return incoming.pipe(plain)
}
