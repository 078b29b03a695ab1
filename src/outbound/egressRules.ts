import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { createDeniedHosts, type DeniedHosts } from './deniedHosts.ts'
import { isAllowedHost, isGlobalAddress, type Target, webPorts } from './urlGuard.ts'

/** All addresses of a name, of both families; empty when it has none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Rules for connections to hosts that callers name. */
export interface EgressRules {
  /** Hosts that may be reached though they are not global. */
  readonly allowHosts: readonly string[]
  readonly denied: DeniedHosts
  readonly ports: readonly number[]
  readonly resolve: Resolve
  /** For allowed hosts only: as this machine sees them, hosts file included. */
  readonly resolveAllowed: Resolve
}

export type EgressVerdict =
  /** Connect to one of these and to nothing else: a name that is asked for twice may answer differently. */
  { readonly kind: 'reachable'; readonly addresses: readonly string[] } | { readonly kind: 'forbidden' | 'unreachable' }

const forbidden: EgressVerdict = { kind: 'forbidden' }

// A name can have thousands of addresses, and each one that does not answer is a connection attempt.
const addressesMax = 16

/**
 * Whether a caller may have us connect there. A name with a single address that is denied or not global is refused as a
 * whole.
 */
export async function judgeTarget(rules: EgressRules, target: Target): Promise<EgressVerdict> {
  const bare = target.hostname.replace(/^\[|\]$/g, '')
  const isAllowed = isAllowedHost(rules.allowHosts, target)
  if (!isAllowed && (rules.denied.hasName(bare) || !rules.ports.includes(target.port))) return forbidden
  const addresses = isIP(bare) === 0 ? await (isAllowed ? rules.resolveAllowed : rules.resolve)(bare) : [bare]
  if (addresses.length === 0) return { kind: 'unreachable' }
  const isDenied = rules.denied.addresses()
  if (!isAllowed && !addresses.every((address) => isGlobalAddress(address) && !isDenied(address))) return forbidden
  return { kind: 'reachable', addresses: addresses.slice(0, addressesMax) }
}

// Not getaddrinfo: it holds one of Node's four threads until the name server answers, and a page may name a
// hundred hosts of a server that never does. Files and compression of all other requests would wait with it.
const resolverOptions = { timeout: 2_000, tries: 2 }

/** Asks the name servers of this machine, or these. */
export function createResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver(resolverOptions)
  if (servers !== undefined) resolver.setServers(servers)
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}

const resolveOnThisMachine: Resolve = async (hostname) => {
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address)
  } catch {
    // Not found and no name server come to the same for the page: it cannot be reached.
    return []
  }
}

/** The public web without this machine and the hosts that the operator denies, and the hosts that the operator allows. */
export function webRules(allowHosts: readonly string[], denyHosts: readonly string[] = []): EgressRules {
  const denied = createDeniedHosts(denyHosts)
  return { allowHosts, denied, ports: webPorts, resolve: createResolve(), resolveAllowed: resolveOnThisMachine }
}
