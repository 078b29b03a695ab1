import { type Clock, systemClock } from '@tollbook/core/clock'
import { createLog } from '../../src/machine/log.ts'
import type { ProviderDeps } from '../../src/sourcing/provider.ts'
import { createUpstream, type UpstreamDeps } from '../../src/outbound/upstream.ts'
import type { UpstreamConfigs } from '../../src/product/upstreamName.ts'

/** Real time that a test may set forward, or begin at another moment; what sleeps, sleeps really. */
export interface ForwardClock extends Clock {
  forward(durationMs: number): void
}

function createForwardClock(startMs = systemClock.nowMs()): ForwardClock {
  const setMs = startMs - systemClock.nowMs()
  let forwardMs = 0
  return {
    nowMs: () => systemClock.nowMs() + setMs + forwardMs,
    monotonicMs: () => systemClock.monotonicMs() + forwardMs,
    sleep: (durationMs, signal) => systemClock.sleep(durationMs, signal),
    forward(durationMs) {
      forwardMs += durationMs
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
