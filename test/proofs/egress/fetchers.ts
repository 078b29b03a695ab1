import { get } from 'node:http'
import type { LookupFunction } from 'node:net'
import { text } from 'node:stream/consumers'
import { createResolve, webRules } from '../../../src/outbound/egressRules.ts'
import { createPinnedGet } from '../../../src/outbound/pinnedGet.ts'
import { createReadFeed } from '../../../src/sourcing/readFeed.ts'
import { UpstreamFailure } from '../../../src/product/upstreamFailure.ts'
import { webPorts } from '../../../src/outbound/urlGuard.ts'
import { canaryText, type EgressEnvironment } from './environment.ts'
import type { Tried } from './tryAttacks.ts'
import { zoneKinds } from './zone.ts'

/** Requests of the service itself, without a browser. */
export interface Fetchers {
  /** Text of the answer, or why there is none. */
  fetchPage(url: string): Promise<FetchResult>
  /** The operator's feed, which redirects. */
  readFeed(url: string): Promise<FetchResult>
}

export interface FetchResult {
  readonly outcome: string
  readonly text: string
}

/** The fetcher and the feed reader of the product, which ask the attacker's name server. */
export function guardedFetchers({ nameServer, port }: EgressEnvironment): Fetchers {
  const resolve = createResolve([nameServer])
  const ports = port === '' ? webPorts : [...webPorts, Number(port.slice(1))]
  const rules = { ...webRules([]), resolve, ports }
  const pinnedGet = createPinnedGet(rules)
  const readFeed = createReadFeed({ version: '0', contact: 'proof', onCall: () => undefined }, rules)
  const signal = new AbortController().signal
  return {
    async fetchPage(url) {
      const request = { url: new URL(url), headers: {}, isChosen: false, signal: AbortSignal.timeout(fetchTimeoutMs) }
      try {
        const reply = await pinnedGet(request)
        if (reply.kind === 'forbidden') return { outcome: reply.kind, text: '' }
        return { outcome: reply.kind, text: await reply.response.text() }
      } catch {
        return { outcome: 'unreachable', text: '' }
      }
    },
    async readFeed(url) {
      try {
        const reply = await readFeed({ url, etag: undefined, lastModified: undefined, signal })
        return { outcome: reply.kind, text: 'text' in reply ? reply.text : '' }
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
        return { outcome: error.kind, text: '' }
      }
    },
  }
}

const fetchTimeoutMs = 8_000
const hopsMax = 3

/** The guard that only checks: it looks a name up, and then connects by name, which looks it up again. */
export function unguardedFetchers({ nameServer }: EgressEnvironment): Fetchers {
  const resolve = createResolve([nameServer])
  const lookup: LookupFunction = (hostname, options, answer) => {
    void resolve(hostname).then((addresses) => {
      const address = addresses.at(-1)
      if (address === undefined) return answer(new Error('the name has no address'), '')
      const family = address.includes(':') ? 6 : 4
      if (options.all === true) answer(null, [{ address, family }])
      else answer(null, address, family)
    })
  }
  const fetchPage = async (url: string, hops = 0): Promise<FetchResult> => {
    await resolve(new URL(url).hostname)
    return new Promise((done) => {
      const request = get(url, { lookup, agent: false, timeout: fetchTimeoutMs }, (response) => {
        const { location } = response.headers
        const answered = text(response).then((body) => ({ outcome: 'answered', text: body }))
        done(location !== undefined && hops < hopsMax ? fetchPage(location, hops + 1) : answered)
      })
      request.on('timeout', () => request.destroy(new Error('too late')))
      request.on('error', () => done({ outcome: 'unreachable', text: '' }))
    })
  }
  return { fetchPage, readFeed: fetchPage }
}

export async function tryFetchers(fetchers: Fetchers, environment: EgressEnvironment): Promise<readonly Tried[]> {
  const tried: Tried[] = []
  for (const kind of zoneKinds) {
    const location = `http://moved.${kind}.test${environment.port}/`.toLowerCase()
    const fetched = () => fetchers.fetchPage(`http://fetched.${kind}.test${environment.port}/`.toLowerCase())
    const moved = () => {
      environment.serve({ page: '', status: 302, headers: { location } })
      return fetchers.readFeed(`${environment.siteByAddress}/`)
    }
    tried.push(await tryFetch(environment, { group: 'name, fetcher', name: kind, send: fetched }))
    const own = () => fetchers.readFeed(`http://feed.${kind}.test${environment.port}/`.toLowerCase())
    tried.push(await tryFetch(environment, { group: 'name, feed that has moved', name: kind, send: moved }))
    tried.push(await tryFetch(environment, { group: 'name, feed itself', name: kind, send: own }))
  }
  return tried
}

interface FetchAttack {
  readonly group: string
  readonly name: string
  readonly send: () => Promise<FetchResult>
}

async function tryFetch(environment: EgressEnvironment, { group, name, send }: FetchAttack): Promise<Tried> {
  const before = environment.hits()
  const { outcome, text } = await send()
  return { group, name, hits: environment.hits() - before, leaked: text.includes(canaryText), outcome }
}
