import { BlockList, isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { readHostEntry } from '../machine/hostEntry.ts'

export type DeniedHosts = ReturnType<typeof createDeniedHosts>

/**
 * An entry with a name denies requests to that name. An entry with an address or a network denies each name that
 * resolves to it. The addresses of this machine are denied too.
 */
export function createDeniedHosts(
  entries: readonly string[],
  ownAddresses: () => readonly string[] = addressesOfThisMachine,
) {
  const read = entries.flatMap((entry) => readHostEntry(entry) ?? [])
  const names = new Set(read.flatMap((entry) => (entry.kind === 'name' ? [entry.name] : [])))
  const networks = new BlockList()
  for (const entry of read) if (entry.kind === 'network') networks.addSubnet(entry.address, entry.prefix, entry.family)
  return {
    hasName: (hostname: string) => names.has(hostname.replace(/\.$/, '')),
    /** Includes the current addresses of this machine. */
    addresses(): (address: string) => boolean {
      const own = new BlockList()
      for (const address of ownAddresses()) own.addAddress(address, familyOf(address))
      return (address) => own.check(address, familyOf(address)) || networks.check(address, familyOf(address))
    },
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}

function addressesOfThisMachine(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address))
}
