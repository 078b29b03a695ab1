import type { Metrics } from '../transport/metrics.ts'
import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'

export interface PartDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}
