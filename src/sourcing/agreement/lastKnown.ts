import { LRUCache } from 'lru-cache'
import type { Clock } from '@tollbook/core/clock'
import { cacheBound } from '../cacheBound.ts'
import type { Figures } from './figures.ts'

export interface LastKnown {
  find(key: string): Figures | undefined
  remember(key: string, figures: Figures): void
}

const itemsMax = 5_000

/**
 * Keeps figures in memory, each for `heldMs`. After a restart there is no last known value, so an answer needs another
 * source to confirm it.
 */
export function createLastKnown(clock: Clock, heldMs: number): LastKnown {
  const perf = { now: () => clock.monotonicMs() }
  const held = new LRUCache<string, Figures>({ perf, ttlResolution: 0, ...cacheBound(itemsMax), ttl: heldMs })
  return { find: (key) => held.get(key), remember: (key, figures) => void held.set(key, figures) }
}
