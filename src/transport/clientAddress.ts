import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

/**
 * Returns the client's address. Any client can write forwarded headers, so the service trusts only the entries that the
 * operator's proxies appended.
 */
export function clientAddress(request: IncomingMessage, trustedProxyHops: number): string {
  const socket = plainAddress(request.socket.remoteAddress ?? '')
  if (trustedProxyHops === 0) return socket
  const header = request.headers['x-forwarded-for']
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? '')).slice(-hopsCharactersMax).split(',')
  const hop = plainAddress((hops.at(-trustedProxyHops) ?? '').trim())
  return isIP(hop) === 0 ? socket : hop
}

const hopsCharactersMax = 1_000

/**
 * Converts an IPv4 address that is mapped to IPv6, in any spelling, because it is the same client as the plain IPv4
 * address. Returns any other address unchanged.
 */
export function plainAddress(address: string): string {
  if (!isIPv6(address)) return address
  const groups = groupsOf(address)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  return isMapped
    ? groups
        .slice(6)
        .flatMap((group) => [group >> 8, group & 0xff])
        .join('.')
    : address
}

const groupCount = 8
const networkGroupCount = 4
const customerGroupCount = 3

/** Returns the address. For IPv6, returns its /64 network, because each customer of a network provider has at least one. */
export function limitKey(address: string): string {
  if (!isIPv6(address)) return address
  return `${groupsOf(address)
    .slice(0, networkGroupCount)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/**
 * Returns the /48 network of a limit key, because all its addresses may belong to one customer. Undefined for an IPv4
 * address.
 */
export function networkKey(key: string): string | undefined {
  if (!key.endsWith('::/64')) return undefined
  return `${key.split(':', customerGroupCount).join(':')}::/48`
}

/** Expands the shortened forms of an IPv6 address to eight groups. */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const [before, after] = [readGroups(head), readGroups(tail ?? '')]
  const zeros = Array.from({ length: Math.max(0, groupCount - before.length - after.length) }, () => 0)
  return [...before, ...zeros, ...after]
}

function readGroups(text: string): readonly number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

/**
 * Returns a test whether an address is in one of the subnets, which are in CIDR notation, IPv4 and IPv6. The test is
 * false for text that is not an address.
 */
export function addressList(subnets: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [network = '', prefix = '0'] = subnet.split('/')
    list.addSubnet(network, Number(prefix), isIPv6(network) ? 'ipv6' : 'ipv4')
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
