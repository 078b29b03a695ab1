import { type PayoutPlan, payoutPlanJson, readPayoutPlan } from '../accounting/payoutPlan.ts'
import { Fault } from '@tollbook/core/fault'
import { parseJson } from '@tollbook/core/json'

/** Writes a plan. `parsePlan` rejects the text if the content has changed. */
export function planText(plan: PayoutPlan): string {
  return `${JSON.stringify(payoutPlanJson(plan), null, 2)}\n`
}

/** Reads a plan. Throws a `Fault` unless the digest in the plan's id matches its content. */
export function parsePlan(path: string, text: string): PayoutPlan {
  const plan = readPayoutPlan(parseJson(text))
  if (plan !== undefined) return plan
  throw new Fault(`${path} is not a plan written by \`tollbook payout plan\`, or it was changed`, {
    retryable: false,
  })
}
