import type { FollowedLoad } from '../../src/transport/followLoad.ts'

/**
 * A load that is never high. Service, chain and clients of a test share one event loop, and on a busy machine admission
 * would refuse the clients.
 */
export function calmLoad(): FollowedLoad {
  const nothing = () => undefined
  return {
    isFlood: () => false,
    arrived: nothing,
    sawPayer: nothing,
    quoted: nothing,
    read: () => ({ lagMs: 0, utilization: 0, quoteMs: 0, servesPayers: false }),
    close: nothing,
  }
}
