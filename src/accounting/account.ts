import type { Address } from '@tollbook/core/address'
import { assert } from '@tollbook/core/assert'

/**
 * The chart of accounts. An account here is always a ledger account; on chain we say wallet and token account. The
 * names are those of plain-text accounting, so that an export to beancount or hledger needs no translation.
 */
export type Account = `${'Assets' | 'Liabilities' | 'Expenses' | 'Income' | 'Memo'}:${string}`

export const accounts = {
  /** Tokens that arrived in the payment wallet. Reconciled against its token account on chain. */
  paymentWallet: 'Assets:PaymentWallet',
  /** Paid but not delivered, so owed to the callers. */
  unearned: 'Liabilities:Unearned',
  /** Deposits on tabs that are not spent: the line of all tabs in reports. */
  prepaid: 'Liabilities:Prepaid',
  /** Received for a burn that is not made yet. */
  burnOwed: 'Liabilities:BurnOwed',
  /** Tokens that the treasury has to deliver for burns of sales in dollars. Negative if it has delivered ahead. */
  tokensToDeliver: 'Assets:TokensToDeliver',
  /** Counterpart of `Expenses:Burned:<endpoint>`. */
  burnedByCallers: 'Income:BurnedByCallers',
  /** Answers given for payments that the chain dropped afterwards. */
  reversedPayments: 'Expenses:ReversedPayments',
  /** Prices that the operator gave back although the answer was delivered. */
  refundsGranted: 'Expenses:RefundsGranted',
  /** Price of served answers whose payments the chain could still drop. Not money, and left out of exports. */
  exposed: 'Memo:Exposed',
  exposedContra: 'Memo:ExposedContra',
} as const satisfies Readonly<Record<string, Account>>

const sharePrefix = 'Liabilities:Share:'

/** Earned and owed to one of the accounts of the split. */
export function shareOf(name: string): Account {
  return owedTo(`${sharePrefix}${name}`)
}

/** Undefined for an account that is not a share. */
export function shareName(account: string): string | undefined {
  return account.startsWith(sharePrefix) ? account.slice(sharePrefix.length) : undefined
}

/** Tokens destroyed for answers of one endpoint. */
export function burnedFor(endpoint: string): Account {
  return `Expenses:Burned:${endpoint}`
}

/** The caller sent too much. The difference is owed to the wallet. */
export function overpaidBy(wallet: Address): Account {
  return owedTo(`Liabilities:Overpaid:${wallet}`)
}

/** Paid, but not delivered within a day. */
export function refundDueTo(wallet: Address): Account {
  return owedTo(`Liabilities:RefundsDue:${wallet}`)
}

/** Deposited on a tab and not spent. Owed to the wallet that paid, until the tab spends it. */
export function prepaidOn(tab: string): Account {
  return `${accounts.prepaid}:${tab}`
}

/** Arrived without a request. `unknown` has no sender, because the tokens were minted to the wallet. */
export function unmatchedFrom(wallet: Address | undefined): Account {
  return wallet === undefined ? 'Liabilities:Unmatched:unknown' : owedTo(`Liabilities:Unmatched:${wallet}`)
}

const payable =
  /^Liabilities:(?:Share:[a-z][a-z0-9-]{0,31}|(?:Overpaid|RefundsDue|Unmatched):[1-9A-HJ-NP-Za-km-z]{32,44})$/

/** A debt without a wallet could never be paid, so it is a bug. */
function owedTo(account: Account): Account {
  assert(isPayable(account), `${account} can be paid out`)
  return account
}

/** Tokens are paid out of these accounts only. `ledger.record_payout` has the same list. */
export function isPayable(account: string): account is Account {
  return payable.test(account)
}
