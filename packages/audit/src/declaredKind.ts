import type { AuditedStream } from './auditedStream.ts'

/* Rules of a kind of stream that the database has to enforce, as this auditor knows them (docs/ledger.md). */

export interface DeclaredKind {
  readonly kind: string
  readonly space: number
  /** 0: any length. */
  readonly idBytes: number
  readonly idPrefix: string
  readonly isSetting: boolean
  readonly steps: readonly DeclaredStep[]
}

/** One append: the events that it writes, from which state to which. */
export interface DeclaredStep {
  readonly step: string
  /** '' for a stream that does not exist yet. */
  readonly from: string
  readonly to: string
  readonly events: readonly string[]
  /** Class of the debited account > class of the credited one. */
  readonly moves: readonly string[]
  readonly takesLease: boolean
  readonly isAfterLease: boolean
  readonly writer: 'service' | 'payout' | 'burner' | 'operator' | 'finance'
  /** Highest number of a setting that the step may record. */
  readonly numberMax: number | undefined
  /** Which streams take this step and not another one of the same state. The database does not enforce it. */
  readonly when?: (row: AuditedStream) => boolean
}

type GivenStep = Pick<DeclaredStep, 'step' | 'to' | 'events'> & Partial<DeclaredStep>

/** By default a step of a new stream, taken by the service. */
export function declareStep(given: GivenStep): DeclaredStep {
  const unless = { from: '', moves: [], takesLease: false, isAfterLease: false, numberMax: undefined } as const
  return { ...unless, writer: 'service', ...given }
}
