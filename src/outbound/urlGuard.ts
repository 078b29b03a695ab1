import { BlockList, isIP, isIPv4 } from 'node:net'
import { domainToUnicode } from 'node:url'

/*
 * Callers may request only global unicast addresses. The ranges are listed here, because the library `ipaddr.js` treats
 * some special addresses as ordinary. `findUrlProblem` refuses a URL before the quote. The addresses of a host name are
 * checked when the connection is opened.
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
// In IPv6, only 2000::/3 is global unicast. These ranges in it are special, such as Teredo, 6to4 and documentation.
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

/** False for any text that is not an IP address. */
export function isGlobalAddress(address: string): boolean {
  if (isIPv4(address)) return !blocked.check(address, 'ipv4')
  return isIP(address) === 6 && globalV6.check(address, 'ipv6') && !blocked.check(address, 'ipv6')
}

const urlCharactersMax = 2_048
const localName = /(^|\.)(localhost|local|internal|localdomain|home\.arpa)\.?$/i
const control = /[\p{Cc} ]/u

/** Callers can use other ports only on hosts that the operator allows. */
export const webPorts: readonly number[] = [80, 443]

/** The host is in lower case, with brackets around an IPv6 address. */
export interface Target {
  readonly hostname: string
  readonly port: number
}

/** Undefined if the text is not an http, https, ws or wss URL. */
export function targetOf(text: string): Target | undefined {
  const url = URL.parse(text)
  if (url === null || url.hostname === '' || !/^(https?|wss?):$/.test(url.protocol)) return undefined
  return { hostname: url.hostname, port: portOf(url) }
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' || protocol === 'wss:' ? 443 : 80
}

/**
 * The address of the host does not matter. The entry `name` allows ports 80 and 443, and the entry `name:port` allows
 * only this port.
 */
export function isAllowedHost(allowHosts: readonly string[], { hostname, port }: Target): boolean {
  return allowHosts.some((entry) => {
    const url = URL.parse(`http://${entry}`)
    if (url === null || url.hostname !== hostname) return false
    // Search for the port in the text, because the URL parser drops port 80.
    return /:\d+$/.test(entry) ? portOf(url) === port : webPorts.includes(port)
  })
}

/** Undefined if the target may be tried. Names are not resolved here. Hosts that the operator allows may be private. */
export function findUrlProblem(text: string, allowHosts: readonly string[] = []): string | undefined {
  if (text.length > urlCharactersMax) return `must have at most ${urlCharactersMax} characters`
  if (control.test(text) || !text.isWellFormed())
    return 'must not contain spaces, control characters or lone surrogates'
  if (!/^https?:\/\//i.test(text)) return 'must begin with http:// or https://'
  // The browser uses the same URL standard, so both find the same host in every spelling.
  const url = URL.parse(text)
  if (url === null || url.hostname === '') return 'is not a URL'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  const port = portOf(url)
  if (isAllowedHost(allowHosts, { hostname: url.hostname, port })) return undefined
  if (!webPorts.includes(port)) return 'must use port 80 or 443'
  // Node leaves an invalid punycode label unchanged, so a label that still begins with xn-- after decoding is not a
  // valid name.
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
