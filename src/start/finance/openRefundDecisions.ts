import type { RefundConfig } from '../../config/financeConfig.ts'
import {
  decideAndRecord,
  type DecisionDeps,
  type RefundOrder,
  type RefundOutcome,
} from '../../diagnosis/recordDecision.ts'
import { createPaymentFacts } from '../../reports/paymentFacts.ts'
import { createReports } from '../../reports/reports.ts'
import { openDatabase } from '../../store/database.ts'
import { createRefundStore } from '../../store/refundStore.ts'
import type { PartDeps } from '../partDeps.ts'

export interface DecisionsOptions extends Pick<DecisionDeps, 'chain' | 'allTerms'> {
  readonly token: { readonly mint: string; readonly decimals: number }
}

/** Decisions about refunds with a separate login: the service's may not record them. */
export interface RefundDecisions {
  decide(order: RefundOrder): Promise<RefundOutcome>
  close(): Promise<void>
}

// People decide one payment at a time.
const connectionsMax = 2

/** Undefined without FINANCE_DATABASE_URL. */
export function openRefundDecisions(
  { databaseUrl, limits }: RefundConfig,
  { clock, log }: Pick<PartDeps, 'clock' | 'log'>,
  { token, chain, allTerms }: DecisionsOptions,
): RefundDecisions | undefined {
  if (databaseUrl === undefined) return undefined
  const database = openDatabase({ databaseUrl, applicationName: 'tollbook refunds', connectionsMax, log })
  const deps: DecisionDeps = {
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
