import type { ChainStatement, ledgerStatement, quoteStatement } from './statements.ts'

/** The facts about one payment, in words for support staff. Amounts are base units in text. */
export interface Explanation {
  readonly subject: string
  readonly reference: string | null
  readonly diagnosis: Diagnosis
  readonly chain: ChainStatement
  /** Record of the ledger. Null if the ledger contains nothing under this reference. */
  readonly ledger: ReturnType<typeof ledgerStatement> | null
  readonly quote: ReturnType<typeof quoteStatement> | null
  readonly rules: readonly RuleVerdict[]
  readonly attempts: readonly Attempt[]
  /** Decimals of the amounts. They are all in one mint. */
  readonly decimals: number
  readonly asOf: string
}

export interface Diagnosis {
  readonly code: DiagnosisCode
  readonly staff: string
  readonly caller: string
  /** Booking that finance can record now with `--book`. Null if nothing is due. */
  readonly booking: Booking | null
}

/** A booking. `unmatched`: no request presented the payment. `refund`: the payment bought nothing and is owed back. */
export interface Booking {
  readonly kind: 'unmatched' | 'refund'
  readonly words: string
}

export const diagnosisCodes = [
  'delivered',
  'being_served',
  'not_delivered',
  'attempts_exhausted',
  'refund_due',
  'reversed',
  'unmatched',
  'submitted',
  'payout',
  'burn',
  'quote_not_paid',
  'never_presented',
  'presented_too_late',
  'pays_no_price',
  'paid_elsewhere',
  'failed_on_chain',
  'not_confirmed',
  'not_on_chain',
  'chain_unavailable',
] as const
export type DiagnosisCode = (typeof diagnosisCodes)[number]

/** Result of one rule of docs/verification.md for the payment. */
export interface RuleVerdict {
  readonly rule: string
  readonly asks: string
  readonly verdict: 'passed' | 'failed' | 'not_checked'
  readonly why: string
}

export interface Attempt {
  readonly attempt: number
  readonly attemptId: string
  readonly startedAt: string
  readonly endedAt: string | null
  readonly outcome: 'delivered' | 'failed' | 'broken' | 'running'
  readonly reason: string | null
}
