import type { Json } from '@tollbook/core/canonicalJson'
import type { Clock } from '@tollbook/core/clock'
import type { Endpoint } from '../../product/endpoint.ts'
import { startProbeJob } from '../../jobs/probeJob.ts'
import type { Log } from '../../machine/log.ts'

export interface SupplyDeps {
  readonly clock: Clock
  readonly log: Log
  readonly endpoints: readonly Endpoint[]
  /** True if samples can supply every product, so that the start waits for the samples. */
  readonly hasStandIns: boolean
}

// Milliseconds that the start waits for providers. If a provider does not answer in this time, its products are not for
// sale at first.
const firstRunMsMax = 5_000
// Milliseconds that the start waits for samples. Feeds on loopback supply the sample articles, which takes about a
// second.
const standInsMsMax = 10_000
const pollMs = 50

/**
 * Starts the probes of providers. Waits a limited time for the first probes, so that a product without a working
 * provider is not sold.
 */
export async function openSupply({ clock, log, endpoints, hasStandIns }: SupplyDeps) {
  const supplied = endpoints.filter(({ providers, probes }) => providers.length + probes.length > 0)
  const job = startProbeJob(
    { clock, log },
    supplied.flatMap(({ probes }) => probes),
  )
  const begun = new AbortController()
  await Promise.race([job.firstRun, clock.sleep(firstRunMsMax, begun.signal).catch(() => undefined)])
  begun.abort()
  const startedAtMs = clock.monotonicMs()
  const isComplete = () => !supplied.some((endpoint) => endpoint.suppliedBy() === 'none')
  if (hasStandIns) while (!isComplete() && clock.monotonicMs() - startedAtMs < standInsMsMax) await clock.sleep(pollMs)
  const facts = (): Json => Object.fromEntries(supplied.map((endpoint) => [endpoint.path, endpoint.suppliedBy()]))
  return {
    check: { name: 'providers', problem: () => problemOf(supplied), facts, someProductsOnly: true },
    sampled: () => supplied.filter((endpoint) => endpoint.suppliedBy() === 'samples').map(({ path }) => path),
    close: job.stop,
  }
}

function problemOf(supplied: readonly Endpoint[]): string | undefined {
  const unsold = supplied.filter((endpoint) => endpoint.probes.length > 0 && endpoint.suppliedBy() === 'none')
  if (unsold.length === 0) return undefined
  return `no provider answers for ${unsold.map(({ path }) => path).join(', ')}`
}
