import type { Address } from '@tollbook/core/address'

/**
 * The chart of accounts. An account here is always a ledger account; on chain we say wallet and token account. The
 * names are those of plain-text accounting, so that an export to beancount or hledger needs no translation.
 */
export type Account =
  | (typeof accounts)[keyof typeof accounts]
  | `Liabilities:${'Overpaid' | 'RefundsDue' | 'Unmatched'}:${string}`

export const accounts = {
  /** Tokens that arrived in the payment wallet. Reconciled against its token account on chain. */
  paymentWallet: 'Assets:PaymentWallet',
  /** Paid and not delivered yet: owed to the callers. */
  unearned: 'Liabilities:Unearned',
  provider: 'Liabilities:Provider',
  holders: 'Liabilities:Holders',
  treasury: 'Liabilities:Treasury',
  /** Tokens destroyed, and their counterpart: the callers burned their own. */
  burned: 'Expenses:Burned',
  burnedByCallers: 'Income:BurnedByCallers',
  /** Answers given for payments that the chain dropped afterwards. */
  reversedPayments: 'Expenses:ReversedPayments',
} as const

/** More than was asked arrived. It is owed to the wallet, never silently ours. */
export function overpaidBy(wallet: Address): Account {
  return `Liabilities:Overpaid:${wallet}`
}

/** Paid, and not delivered for a day. */
export function refundDueTo(wallet: Address): Account {
  return `Liabilities:RefundsDue:${wallet}`
}

/** Arrived without a request. `unknown` where nobody sent it: somebody minted it to us. */
export function unmatchedFrom(wallet: Address | undefined): Account {
  return `Liabilities:Unmatched:${wallet ?? 'unknown'}`
}

const payable =
  /^Liabilities:(?:Provider|Holders|Treasury|(?:Overpaid|RefundsDue|Unmatched):[1-9A-HJ-NP-Za-km-z]{32,44})$/

/** Of these alone tokens are paid out; `ledger.record_payout` holds the same list. */
export function isPayable(account: string): account is Account {
  return payable.test(account)
}
