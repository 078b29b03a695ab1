import type { Address } from '../payment/address.ts'

/**
 * The chart of accounts. An account here is always a ledger account; on chain we say wallet and token account. The
 * names are those of plain-text accounting, so that an export to beancount or hledger needs no translation.
 */
export type Account = (typeof accounts)[keyof typeof accounts] | `Liabilities:Overpaid:${string}`

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
} as const

/** More than was asked arrived. It is owed to the wallet, never silently ours. */
export function overpaidBy(wallet: Address): Account {
  return `Liabilities:Overpaid:${wallet}`
}
