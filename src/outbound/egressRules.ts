import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { createDeniedHosts, type DeniedHosts } from './deniedHosts.ts'
import { isAllowedHost, isGlobalAddress, type Target, webPorts } from './urlGuard.ts'

/** Returns the IPv4 and IPv6 addresses of the name. Empty if the name has no address. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export interface EgressRules {
  /** Hosts that callers may reach although their addresses are not global. */
  readonly allowHosts: readonly string[]
  readonly denied: DeniedHosts
  readonly ports: readonly number[]
  readonly resolve: Resolve
  /** Resolves like other programs on this machine, including its hosts file. */
  readonly resolveAllowed: Resolve
}

export type EgressVerdict =
  /** Connect only to these addresses, because a second lookup of the name may return different addresses. */
  { readonly kind: 'reachable'; readonly addresses: readonly string[] } | { readonly kind: 'forbidden' | 'unreachable' }

const forbidden: EgressVerdict = { kind: 'forbidden' }

// Maximum of addresses that are used, because a name can have thousands, and every address without an answer costs a
// connection attempt.
const addressesMax = 16

/** If one address of a name is denied or not global, the whole name is refused, unless the operator allows the host. */
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

// Names that callers choose are not resolved by getaddrinfo, which blocks a thread of Node's pool for each lookup.
// Names of a silent name server would make file access wait.
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
    // A missing name and a missing name server have the same consequence: the page cannot be reached.
    return []
  }
}

/**
 * Creates the rules for the public web. They deny this machine and the operator's denied hosts, unless the operator
 * allows a host.
 */
export function webRules(allowHosts: readonly string[], denyHosts: readonly string[] = []): EgressRules {
  const denied = createDeniedHosts(denyHosts)
  return { allowHosts, denied, ports: webPorts, resolve: createResolve(), resolveAllowed: resolveOnThisMachine }
}
