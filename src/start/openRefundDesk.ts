import type { RefundSettings } from '../config/refundSettings.ts'
import { decideAndRecord, type RefundDeskDeps, type RefundOrder, type RefundOutcome } from '../diagnosis/refundDesk.ts'
import { createPaymentFacts } from '../reports/paymentFacts.ts'
import { createReports } from '../reports/reports.ts'
import { openDatabase } from '../store/database.ts'
import { createRefundStore } from '../store/refundStore.ts'
import type { PartDeps } from './partDeps.ts'

export interface RefundDeskOptions extends Pick<RefundDeskDeps, 'chain' | 'allTerms'> {
  readonly token: { readonly mint: string; readonly decimals: number }
}

/** Decisions about refunds with a login of their own: the service's may not record them. */
export interface RefundDesk {
  decide(order: RefundOrder): Promise<RefundOutcome>
  close(): Promise<void>
}

// People decide one payment at a time.
const connectionsMax = 2

/** Undefined without FINANCE_DATABASE_URL. */
export function openRefundDesk(
  { databaseUrl, limits }: RefundSettings,
  { clock, log }: Pick<PartDeps, 'clock' | 'log'>,
  { token, chain, allTerms }: RefundDeskOptions,
): RefundDesk | undefined {
  if (databaseUrl === undefined) return undefined
  const database = openDatabase({ databaseUrl, applicationName: 'tollbook refunds', connectionsMax, log })
  const deps: RefundDeskDeps = {
    clock,
    facts: createPaymentFacts(database),
    store: createRefundStore(database, () => clock.nowMs()),
    refundsOf: createReports(database, token).refundsOf,
    chain,
    allTerms,
    limits,
  }
  return { decide: (order) => decideAndRecord(deps, order), close: () => database.destroy() }
}
