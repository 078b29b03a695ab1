import type { Address } from '@tollbook/core/address'
import type { DistributionPaid } from '../payment/events/payoutEvents.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { TransactionRecord } from '../payment/transactionRecord.ts'
import { isPayoutMemo, payoutMemo, type PayoutPlan, type PlannedTransfer } from '../accounting/payoutPlan.ts'

export interface PayoutMatch {
  readonly record: TransactionRecord
  readonly plan: PayoutPlan
  readonly terms: PaymentTerms
  readonly tokenAccountOf: (wallet: Address) => Address
}

/**
 * Matches a transaction with a part of the plan. A line that could not be paid at the time of sending may be missing,
 * except in a plan for holders, whose parts are paid whole. The recorded amount is what left the payment wallet,
 * including a fee that the mint withheld. A string is the reason of a rejection.
 */
export function matchPayout({ record, plan, terms, tokenAccountOf }: PayoutMatch): DistributionPaid | string {
  if (plan.mint !== terms.mint || plan.paymentWallet !== terms.paymentWallet || plan.network !== terms.network)
    return 'the plan is for another mint, payment wallet or network'
  if (record.failure !== undefined) return `the transaction failed on chain: ${record.failure.text}`
  const memos = record.memos.filter(isPayoutMemo)
  const index = plan.parts.findIndex((_, k) => memos[0] === payoutMemo(plan, k + 1))
  const part = plan.parts[index]
  if (memos.length !== 1 || part === undefined) return `its memo does not name a part of ${plan.id}`

  const source = terms.paymentTokenAccount
  const own = record.balances.filter((balance) => balance.tokenAccount === source && balance.mint === terms.mint)
  if (own.length === 0 || own.some(({ ownersSeen }) => ownersSeen.some((owner) => owner !== terms.paymentWallet)))
    return 'it does not move tokens of the payment wallet'
  const left = record.movements.flatMap((movement) =>
    movement.kind !== 'mintTo' && movement.source === source
      ? [`${movement.kind === 'burn' ? 'burned' : movement.destination} ${movement.amountBaseUnits}`]
      : [],
  )
  const paid = takeLines(part, left, tokenAccountOf)
  if (paid === undefined || (plan.holders !== undefined && paid.length < part.length)) {
    const planned = part.map(({ wallet, baseUnits }) => `${tokenAccountOf(wallet)} ${baseUnits}`)
    return `it does not pay part ${index + 1} as planned: ${left.join(', ')} instead of ${planned.join(', ')}`
  }
  const netBaseUnits = own.reduce(
    (sum, { beforeBaseUnits, afterBaseUnits }) => sum + beforeBaseUnits - afterBaseUnits,
    0n,
  )
  const totalBaseUnits = paid.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  if (netBaseUnits !== totalBaseUnits)
    return `${netBaseUnits} base units left the payment wallet, and its lines sum to ${totalBaseUnits}`
  return {
    kind: 'DistributionPaid',
    signature: record.signature,
    planId: plan.id,
    part: index + 1,
    mint: terms.mint,
    slot: record.slot,
    payments: paid.map(({ account, wallet, baseUnits }) => ({ account, wallet, paidBaseUnits: baseUnits })),
  }
}

/**
 * Returns the lines that the transfers pay, one for each transfer. Undefined if a transfer pays no line, or there is
 * none.
 */
function takeLines(
  part: readonly PlannedTransfer[],
  transfers: readonly string[],
  tokenAccountOf: PayoutMatch['tokenAccountOf'],
): readonly PlannedTransfer[] | undefined {
  const unmatched = [...transfers]
  const paid = part.filter(({ wallet, baseUnits }) => {
    const at = unmatched.indexOf(`${tokenAccountOf(wallet)} ${baseUnits}`)
    if (at !== -1) unmatched.splice(at, 1)
    return at !== -1
  })
  return unmatched.length === 0 && paid.length > 0 ? paid : undefined
}
