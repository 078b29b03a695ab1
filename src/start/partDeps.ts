import type { Metrics } from '../transport/metrics.ts'
import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'

/** Dependencies of every part, in addition to its configuration. */
export interface PartDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}
