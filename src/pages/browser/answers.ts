import type { PaymentDetail } from '../../reports/paymentDetail.ts'
import type { refundJson } from '../../reports/refundLines.ts'
import type { Summary as Figures } from '../../reports/summary.ts'

/* The fields of the finance reports that the page uses. Amounts are base units in text. */

/** `position` is the last event in the reports, and `headPosition` the last event in the ledger. */
interface Positions {
  readonly ledger: { readonly position: number; readonly headPosition: number }
}

export type Summary = Figures &
  Positions & {
    readonly asOf: string
    readonly publicUrl: string | null
    /** Null if no node answers. */
    readonly paymentWalletOnChainBaseUnits: string | null
  }
export type Mint = Figures['mints'][number]

export type Cell = string | number | null
export type Row = Readonly<Record<string, Cell>>

export interface ReportPage extends Positions {
  readonly decimals: number
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  readonly totals: Row | null
  /** Null on the last page. */
  readonly next: string | null
}

export interface Links {
  readonly network: string
  readonly explorer: string | null
  readonly checkpoint: string | null
  readonly inclusion: string | null
}

export type Refund = ReturnType<typeof refundJson>
export type Payment = Omit<PaymentDetail, 'reference'> & { readonly reference: string }
export type LedgerEvent = Payment['events'][number]
