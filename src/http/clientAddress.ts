import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

/**
 * Address of the client. Every client can write forwarded headers, so only as many hops as the operator runs are trusted,
 * counted from our end.
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

/** An IPv4 address mapped into IPv6 is the same client. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}

/** An IPv6 customer usually has a whole /64, so a limit counts the /64. */
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
