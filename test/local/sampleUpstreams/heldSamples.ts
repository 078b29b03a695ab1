import type { Clock } from '@tollbook/core/clock'
import { type SampleUpstreams, startSampleUpstreams } from '@tollbook/sandbox/sampleUpstreams/sampleUpstreams'
import { afterFile } from '../../support/afterFile.ts'

/** The mint of the fixtures. */
export const fixtureMint = '9xTokenMint1111111111111111111111111111111p'
/** A Friday, before New York opens: the moment of the fixtures. */
export const fixtureMs = Date.parse('2026-11-20T12:49:21Z')

/** Sample servers whose clock stands still. */
export async function openHeldSamples(nowMs = fixtureMs): Promise<SampleUpstreams> {
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: () => Promise.resolve() }
  const samples = await startSampleUpstreams({ clock, tokenMint: fixtureMint })
  afterFile(() => samples.close())
  return samples
}
