import { BlockList, isIP, isIPv4 } from 'node:net'
import { domainToUnicode } from 'node:url'

/*
 * Which addresses a caller may send us to: global unicast and nothing else. Own ranges, because the usual library calls
 * 5 of 63 special addresses ordinary. This is the courtesy before a quote; what a name resolves to
 * is decided where the connection is made.
 */

const notGlobalV4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
// Of IPv6 only 2000::/3 is global unicast; within it Teredo, ORCHID, 6to4 and documentation lead elsewhere.
const notGlobalV6: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const blocked = new BlockList()
for (const [address, prefix] of notGlobalV4) blocked.addSubnet(address, prefix, 'ipv4')
for (const [address, prefix] of notGlobalV6) blocked.addSubnet(address, prefix, 'ipv6')
const globalV6 = new BlockList()
globalV6.addSubnet('2000::', 3, 'ipv6')

/** Whether an IP address is publicly routable. False for a text that is not an IP address. */
export function isGlobalAddress(address: string): boolean {
  if (isIPv4(address)) return !blocked.check(address, 'ipv4')
  return isIP(address) === 6 && globalV6.check(address, 'ipv6') && !blocked.check(address, 'ipv6')
}

const urlCharactersMax = 2_048
const localName = /(^|\.)(localhost|local|internal|localdomain|home\.arpa)\.?$/i
const control = /[\p{Cc} ]/u

/** The ports of the web; no other is reached for a caller, except on a host that the operator allows by name. */
export const webPorts: readonly number[] = [80, 443]

/** A host from a parsed URL, so lower case and with an IPv6 address in brackets. */
export interface Target {
  readonly hostname: string
  readonly port: number
}

/** Undefined if it is not an http or https URL. */
export function targetOf(text: string): Target | undefined {
  const url = URL.parse(text)
  if (url === null || url.hostname === '' || !/^(https?|wss?):$/.test(url.protocol)) return undefined
  return { hostname: url.hostname, port: portOf(url) }
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' || protocol === 'wss:' ? 443 : 80
}

/** Whether the operator lets callers in there whatever its address: `name` on the ports of the web, `name:port` on that one. */
export function isAllowedHost(allowHosts: readonly string[], { hostname, port }: Target): boolean {
  return allowHosts.some((entry) => {
    const url = URL.parse(`http://${entry}`)
    if (url === null || url.hostname !== hostname) return false
    // The URL parser drops a port 80, so it is looked for in the text.
    return /:\d+$/.test(entry) ? portOf(url) === port : webPorts.includes(port)
  })
}

/**
 * Problem of a target, in words for the caller; undefined if it may be tried. No name is resolved here. Hosts that the
 * operator allows may be private and on any port.
 */
export function findUrlProblem(text: string, allowHosts: readonly string[] = []): string | undefined {
  if (text.length > urlCharactersMax) return `must have at most ${urlCharactersMax} characters`
  if (control.test(text) || !text.isWellFormed())
    return 'must not contain spaces, control characters or lone surrogates'
  if (!/^https?:\/\//i.test(text)) return 'must begin with http:// or https://'
  // The same parser as the browser's, so that no spelling means one host here and another there.
  const url = URL.parse(text)
  if (url === null || url.hostname === '') return 'is not a URL'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  const port = portOf(url)
  if (isAllowedHost(allowHosts, { hostname: url.hostname, port })) return undefined
  if (!webPorts.includes(port)) return 'must use port 80 or 443'
  // Node leaves a label unchanged that is not punycode; a label that
  // still begins with xn-- after decoding names no host.
  if (/(^|\.)xn--/.test(domainToUnicode(url.hostname))) return 'must have a valid international host name'
  return findHostProblem(url.hostname)
}

function findHostProblem(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isIP(bare) !== 0)
    return isGlobalAddress(bare) ? undefined : 'must not be a private, loopback, link-local or reserved address'
  if (localName.test(bare)) return 'must not be a name of the local machine or network'
  return undefined
}
