import { LRUCache } from 'lru-cache'
import type { Clock } from '@tollbook/core/clock'
import { cacheBound } from '../cacheBound.ts'
import type { Figures } from './figures.ts'

/** The figures that this process sold most recently, by item. */
export interface LastKnown {
  find(key: string): Figures | undefined
  remember(key: string, figures: Figures): void
}

const itemsMax = 5_000

/** Known values are in bounded memory. After a restart there are none, so they confirm nothing. */
export function createLastKnown(clock: Clock, heldMs: number): LastKnown {
  const perf = { now: () => clock.monotonicMs() }
  const held = new LRUCache<string, Figures>({ perf, ttlResolution: 0, ...cacheBound(itemsMax), ttl: heldMs })
  return { find: (key) => held.get(key), remember: (key, figures) => void held.set(key, figures) }
}
