import { networkKey } from './clientAddress.ts'
import { createRateLimit, type RateLimit, type RateLimitRule, sharedCountsOf } from './rateLimit.ts'

/**
 * Clients of one /48 that can use up their limits at the same time. A carrier has many customers in one /48, and an
 * attacker can use all of its 65,536 /64 networks.
 */
export const clientsPerNetwork = 16

/** Limits each client, and each IPv6 network of 48 bits to 16 times as much. */
export function createClientLimit(rule: RateLimitRule, nowMs: () => number): RateLimit {
  const clients = createRateLimit(rule, nowMs)
  const networks = createRateLimit({ ...rule, name: `${rule.name}-48`, max: rule.max * clientsPerNetwork }, nowMs)
  return {
    rule,
    ...sharedCountsOf([clients, networks]),
    take(client) {
      const network = networkKey(client)
      const ofClient = clients.take(client)
      if (network === undefined || !ofClient.isAllowed) return ofClient
      const ofNetwork = networks.take(network)
      if (ofNetwork.isAllowed) return ofClient
      clients.giveBack(client)
      return ofNetwork
    },
    giveBack(client) {
      const network = networkKey(client)
      clients.giveBack(client)
      if (network !== undefined) networks.giveBack(network)
    },
  }
}
