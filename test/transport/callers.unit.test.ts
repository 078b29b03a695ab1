import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import { type CallerConfig, openCallers } from '../../src/transport/callers.ts'
import { createConnections } from '../../src/transport/connections.ts'
import { createLookupCounts } from '../../src/transport/lookupCounts.ts'
import { afterFile } from '../support/afterFile.ts'
import { steppedClock } from '../support/steppedClock.ts'

const connectionsPerAddressMax = 200

/** Connections of one address, with the limits of a service that has this many proxies in front. */
function connectionsBehind(trustedProxyHops: number) {
  const settings: CallerConfig = {
    trustedProxyHops,
    metricsSubnets: ['127.0.0.0/8'],
    connectionsMax: 1_000,
    connectionsPerAddressMax,
    limits: {
      requestsPerMinute: 60,
      quotesPerAddressMax: 10,
      quotesPerWalletMax: 10,
      openQuotesBytesMax: 1_000_000,
      unknownProofsPerMinute: 10,
      quoteTtlMs: 60_000,
    },
  }
  const clock = steppedClock()
  const callers = openCallers(settings, {
    clock,
    log: silentLog,
    ledger: { shareRates: () => Promise.resolve([]) },
    metrics: { onLimited: () => undefined },
    lookups: createLookupCounts(() => 0),
  })
  afterFile(() => callers.close())
  const connections = createConnections(callers.connectionLimits, { turnsAway: () => false, restSeconds: () => 0 })
  const taken = Array.from({ length: 300 }, () => {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: '10.0.0.9' })
    return connections.take(socket)
  })
  return taken.filter((isTaken) => isTaken).length
}

test('the connections of a proxy carry many clients and are not limited; those of a client are', () => {
  expect(connectionsBehind(1)).toBe(300)
  expect(connectionsBehind(2)).toBe(300)
  expect(connectionsBehind(0)).toBe(connectionsPerAddressMax)
})
