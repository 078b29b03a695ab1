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

const hostName = /^(?=.{1,253}$)[a-z\d]([a-z\d-]{0,62}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i

/** Parses an entry of a list of hosts. Undefined if the text is invalid, for example if it contains a port or a scheme. */
export function readHostEntry(text: string): HostEntry | undefined {
  const [, address = '', bits] = /^\[?([^\]/]*)\]?(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return hostName.test(text) ? { kind: 'name', name: text.toLowerCase() } : undefined
  const most = version === 4 ? 32 : 128
  const prefix = bits === undefined ? most : Number(bits)
  return prefix > most ? undefined : { kind: 'network', address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}
