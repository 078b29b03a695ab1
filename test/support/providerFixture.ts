import { type Clock, systemClock } from '@tollbook/core/clock'
import { createLog } from '../../src/machine/log.ts'
import type { ProviderDeps } from '../../src/sourcing/provider.ts'
import { createUpstream, type UpstreamDeps } from '../../src/outbound/upstream.ts'
import type { UpstreamConfigs } from '../../src/product/providerTerms.ts'

/** Time that passes when a test forwards it, and by a tick at each reading. Pauses are really slept. */
export interface ForwardClock extends Clock {
  forward(durationMs: number): void
}

// Two readings differ, as in real time. The tick is a power of two, so that no sum of times is rounded.
const tickMs = 1 / 1024

function createForwardClock(startMs = systemClock.nowMs()): ForwardClock {
  let passedMs = 0
  return {
    nowMs: () => startMs + Math.floor(passedMs),
    monotonicMs: () => (passedMs += tickMs),
    sleep: (durationMs, signal) => systemClock.sleep(durationMs, signal),
    forward(durationMs) {
      passedMs += durationMs
    },
  }
}

export interface ProviderFixture {
  readonly clock: ForwardClock
  readonly deps: ProviderDeps
  readonly upstreamDeps: UpstreamDeps
  /** Every line that was logged, as text. */
  readonly lines: readonly string[]
  /** `name: outcome` of every call. */
  readonly calls: readonly string[]
}

/** Dependencies of providers, with our real client and nothing between it and their servers. */
export function openProviderFixture(upstreams: UpstreamConfigs = {}, startMs?: number): ProviderFixture {
  const clock = createForwardClock(startMs)
  const lines: string[] = []
  const calls: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = createLog({ level: 'trace', name: 'test', destination })
  const upstreamDeps = {
    clock,
    log,
    version: '1.2.3',
    contact: 'ops@example.org',
    onCall: ({ upstream, outcome }: { upstream: string; outcome: string }) =>
      void calls.push(`${upstream}: ${outcome}`),
  }
  return {
    clock,
    lines,
    calls,
    upstreamDeps,
    deps: {
      clock,
      log,
      upstreams,
      sampleUpstreams: false,
      isProbed: false,
      openUpstream: (options) => createUpstream(upstreamDeps, options),
    },
  }
}
