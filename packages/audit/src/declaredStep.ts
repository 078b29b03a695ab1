export interface DeclaredKind {
  readonly kind: string
  readonly space: number
  readonly idBytes: number
  readonly idPrefix: string
  readonly isSetting: boolean
}

export interface DeclaredStep {
  readonly kind: string
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
}
