import type { Clock } from '@tollbook/core/clock'
import { type SampleUpstreams, startSampleUpstreams } from '@tollbook/sandbox/sampleUpstreams/sampleUpstreams'
import { assertPresent } from '@tollbook/core/assert'
import { afterFile } from '../../support/afterFile.ts'

/** A Friday, before New York opens: the moment of the fixtures. */
export const fixtureMs = Date.parse('2026-11-20T12:49:21Z')

/** Sample servers whose clock stands still. */
export async function openHeldSamples(nowMs = fixtureMs): Promise<SampleUpstreams> {
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: () => Promise.resolve() }
  const samples = await startSampleUpstreams({ clock })
  afterFile(() => samples.close())
  return samples
}

export function originOf({ upstreams }: SampleUpstreams, name: string): string {
  return assertPresent(upstreams[name], 'every provider has a stand-in').url
}
