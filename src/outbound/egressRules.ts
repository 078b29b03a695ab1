import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { createDeniedHosts, type DeniedHosts } from './deniedHosts.ts'
import { isAllowedHost, isGlobalAddress, type Target, webPorts } from './urlGuard.ts'

/** Returns all IPv4 and IPv6 addresses of a name; empty if the name has none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export interface EgressRules {
  /** Hosts that callers may reach although they are not global. */
  readonly allowHosts: readonly string[]
  readonly denied: DeniedHosts
  readonly ports: readonly number[]
  readonly resolve: Resolve
  /** Resolves allowed hosts as this machine does, with its hosts file. */
  readonly resolveAllowed: Resolve
}

export type EgressVerdict =
  /** Connect only to these addresses: a second lookup of the name may return different ones. */
  { readonly kind: 'reachable'; readonly addresses: readonly string[] } | { readonly kind: 'forbidden' | 'unreachable' }

const forbidden: EgressVerdict = { kind: 'forbidden' }

// Bound the addresses to try: a name can have thousands, and each silent one costs a connection attempt.
const addressesMax = 16

/** Decides whether a caller may connect to a target. One address that is denied or not global refuses the whole name. */
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

// Do not use getaddrinfo: it blocks one of Node's four threads until the name server answers. A page may name a hundred
// hosts of a silent name server, and file access and compression would wait for those threads.
const resolverOptions = { timeout: 2_000, tries: 2 }

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
    // Treat a missing name and a missing name server alike: the page cannot be reached.
    return []
  }
}

/**
 * Allows the public web and the hosts that the operator allows. Denies this machine and the hosts that the operator
 * denies.
 */
export function webRules(allowHosts: readonly string[], denyHosts: readonly string[] = []): EgressRules {
  const denied = createDeniedHosts(denyHosts)
  return { allowHosts, denied, ports: webPorts, resolve: createResolve(), resolveAllowed: resolveOnThisMachine }
}
