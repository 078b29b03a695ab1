import { isIP } from 'node:net'

/** An entry in a list of hosts: a name, an address, or a network such as 203.0.113.0/24. */
export type HostEntry =
  | { readonly kind: 'name'; readonly name: string }
  | {
      readonly kind: 'network'
      readonly address: string
      readonly prefix: number
      readonly family: 'ipv4' | 'ipv6'
    }

// Matches labels of letters, digits and hyphens. The last label starts with a letter: a name that ends with a number is
// probably a mistyped IPv4 address.
export const hostNamePattern = /^(?=.{1,253}$)(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)*[a-z](?:[a-z\d-]{0,61}[a-z\d])?$/i

/** Undefined if the text is invalid, for example if it contains a port or a scheme. */
export function readHostEntry(text: string): HostEntry | undefined {
  const [, address = '', bits] = /^\[?([^\]/]*)\]?(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return hostNamePattern.test(text) ? { kind: 'name', name: text.toLowerCase() } : undefined
  const most = version === 4 ? 32 : 128
  const prefix = bits === undefined ? most : Number(bits)
  return prefix > most ? undefined : { kind: 'network', address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}
