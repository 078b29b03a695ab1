import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

/**
 * Who is asking. Forwarded headers are written by anybody, so only as many hops as the operator runs are believed, counted
 * from our end.
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

/** IPv4 in IPv6's clothes is the same client. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}

/** One IPv6 customer has a whole /64, so that is what a limit counts. */
export function limitKey(address: string): string {
  return isIPv6(address) ? address.split(':').slice(0, 4).join(':') : address
}

export function addressList(subnets: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [network = '', prefix = '0'] = subnet.split('/')
    list.addSubnet(network, Number(prefix), isIPv6(network) ? 'ipv6' : 'ipv4')
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
