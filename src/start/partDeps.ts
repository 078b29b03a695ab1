import type { Metrics } from '../http/metrics.ts'
import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../primitives/log.ts'

/** Dependencies of every part, besides its settings. */
export interface PartDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}
