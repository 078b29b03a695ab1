import type { AuditedStream } from './auditedStream.ts'

/* Rules that the database must enforce for each kind of stream (docs/ledger.md), declared again for this auditor. */

export interface DeclaredKind {
  readonly kind: string
  readonly space: number
  /** Length of the stream id in bytes, without the space byte. 0: any length. */
  readonly idBytes: number
  readonly idPrefix: string
  readonly isSetting: boolean
  readonly steps: readonly DeclaredStep[]
}

/** One kind of append: its events, and the states of the stream before and after it. */
export interface DeclaredStep {
  readonly step: string
  /** State before the step. '' if the stream does not exist yet. */
  readonly from: string
  readonly to: string
  readonly events: readonly string[]
  /** Permitted postings as `debited class>credited class`. */
  readonly moves: readonly string[]
  readonly takesLease: boolean
  readonly isAfterLease: boolean
  readonly writer: 'service' | 'payout' | 'burner' | 'operator' | 'finance'
  /** Highest number of a setting that the step may record. Null: no limit. */
  readonly numberMax: number | null
  /**
   * True for the streams that may take this step. Absent: every stream in the state `from` may take it. Only the audit
   * checks this condition. The database does not enforce it.
   */
  readonly when?: (row: AuditedStream) => boolean
}

type GivenStep = Pick<DeclaredStep, 'step' | 'to' | 'events'> & Partial<DeclaredStep>

/** Declares a step. By default, the step begins a new stream, moves nothing, and is taken by the service. */
export function declareStep(given: GivenStep): DeclaredStep {
  const unless = { from: '', moves: [], takesLease: false, isAfterLease: false, numberMax: null } as const
  return { ...unless, writer: 'service', ...given }
}
