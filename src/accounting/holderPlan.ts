import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { isPayable } from './account.ts'
import { compare, divideAmongHolders } from './holderShares.ts'
import { type HolderRules, type HolderSnapshot, holdersOf } from './holderSnapshot.ts'
import { identifiedPlan, type PayoutPlan, type PlanHead, splitIntoParts } from './payoutPlan.ts'

export interface HolderQuestion extends PlanHead, HolderRules {
  readonly account: string
  readonly amountBaseUnits: bigint
  readonly snapshot: HolderSnapshot
  readonly snapshotSha256: string
  readonly tokenAccountOf: (wallet: Address) => Address
}

// Eight lines that each open a token account fit into the 1,232 bytes of a transaction.
const holderPartMax = 8

/** The same question returns the same plan with the same id. Undefined if no holder can be paid. */
export function planHolderPayout(question: HolderQuestion): PayoutPlan | undefined {
  const { account, amountBaseUnits, snapshot, snapshotSha256, tokenAccountOf, ...rest } = question
  const { excluded: unordered, minimumBaseUnits, openAccountsMax, ...base } = rest
  assert(isPayable(account) && amountBaseUnits > 0n, 'a debt is divided')
  assert(snapshot.mint === base.mint && snapshot.network === base.network, 'the snapshot is of the mint that is paid')
  const excluded = [...new Set(unordered)].toSorted(compare)
  const holders = holdersOf(snapshot, { excluded, minimumBaseUnits, openAccountsMax }, tokenAccountOf)
  assert(!holders.some(({ wallet }) => wallet === base.paymentWallet), 'the payment wallet does not pay itself')
  if (holders.length === 0) return undefined
  const payments = divideAmongHolders(amountBaseUnits, holders).map((share) => ({ account, ...share }))
  const parts = splitIntoParts(payments, holderPartMax)
  const accounts = new Set(snapshot.accounts.map(({ address }) => address))
  const opens = payments.map(({ wallet }) => wallet).filter((wallet) => !accounts.has(tokenAccountOf(wallet)))
  assert(opens.length <= openAccountsMax, 'no more token accounts are opened than the request permits')
  const terms = { account, amountBaseUnits, excluded, minimumBaseUnits, openAccountsMax }
  return identifiedPlan({
    ...base,
    parts,
    ...(opens.length === 0 ? {} : { opens }),
    holders: { ...terms, snapshotSha256, snapshotSlot: snapshot.slot },
  })
}
