import type { Json } from '@tollbook/core/canonicalJson'
import type { RefundLine } from '../../reports/refundLines.ts'

/* Types of the finance reports' answers, limited to the fields that the page uses. Amounts are base units in text. */

/** Position that the figures have reached, and the last position of the ledger. */
interface Positions {
  readonly ledger: { readonly position: number; readonly headPosition: number }
}

export interface Mint {
  readonly mint: string
  readonly name: string
  readonly decimals: number
}

export interface Summary extends Positions {
  readonly mint: string
  /** Mints that have figures. */
  readonly mints: readonly Mint[]
  readonly decimals: number
  readonly asOf: string
  readonly publicUrl: string | null
  readonly payments: number
  readonly burnedBaseUnits: string
  readonly burnConfirmedBaseUnits: string
  readonly burnOwedBaseUnits: string
  readonly burnOwedSince: string | null
  readonly paymentWalletBaseUnits: string
  /** Null if no node answers. */
  readonly paymentWalletOnChainBaseUnits: string | null
  readonly liabilities: readonly { readonly account: string; readonly owedBaseUnits: string }[]
  readonly owedBaseUnits: string
  readonly refundsDueBaseUnits: string
  readonly lostBaseUnits: string
}

export type Cell = string | number | null
export type Row = Readonly<Record<string, Cell>>

/** A page of a report. */
export interface ReportPage extends Positions {
  readonly decimals: number
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  readonly totals: Row | null
  /** Cursor of the next page. */
  readonly next: string | null
}

export interface Links {
  readonly network: string
  readonly explorer: string | null
  readonly checkpoint: string | null
  readonly inclusion: string | null
}

type TextAmounts<Line> = { readonly [Name in keyof Line]: Line[Name] extends bigint ? string : Line[Name] }
export type Refund = TextAmounts<RefundLine>

export interface LedgerEvent {
  readonly position: number
  readonly kind: string
  readonly effectiveAt: string
  readonly recordedAt: string
  readonly leafHash: string
  readonly entries: readonly { readonly account: string; readonly mint: string; readonly amountBaseUnits: string }[]
  readonly body: Json
}

/** Everything in the ledger about one payment, payout or burn. */
export interface Payment {
  readonly reference: string
  readonly kind: string
  readonly wallet: string
  readonly endpoint: string
  readonly state: string
  readonly owedNow: readonly { readonly account: string; readonly owedBaseUnits: string }[]
  readonly payouts: readonly {
    readonly reference: string
    readonly account: string
    readonly paidBaseUnits: string
    readonly paidAt: string
  }[]
  readonly refunds: readonly Refund[]
  readonly events: readonly LedgerEvent[]
  readonly transactionBase64: string | null
}
