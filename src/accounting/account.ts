import type { Address } from '@tollbook/core/address'
import { assert } from '@tollbook/core/assert'

/**
 * The chart of accounts. In this service, an account is always a ledger account. Accounts on chain are called wallets
 * and token accounts. The names follow plain-text accounting, so that exports to beancount or hledger use them
 * unchanged.
 */
export type Account = `${'Assets' | 'Liabilities' | 'Expenses' | 'Income' | 'Memo'}:${string}`

export const accounts = {
  /** Tokens that arrived in the payment wallet. Reconciled against its token account on chain. */
  paymentWallet: 'Assets:PaymentWallet',
  /** Price of payments without a delivery yet, owed to the callers. */
  unearned: 'Liabilities:Unearned',
  /** Unspent deposits on tabs. Reports sum the accounts of all tabs in this line. */
  prepaid: 'Liabilities:Prepaid',
  /** Amount received for burns that the service has not made yet. */
  burnOwed: 'Liabilities:BurnOwed',
  /** Tokens that the treasury has to deliver for burns of sales in dollars. Negative if it has delivered ahead. */
  tokensToDeliver: 'Assets:TokensToDeliver',
  /** Counterpart of the accounts `Expenses:Burned:<endpoint>`. */
  burnedByCallers: 'Income:BurnedByCallers',
  /** Loss from answers whose payments the chain dropped after the delivery. */
  reversedPayments: 'Expenses:ReversedPayments',
  /** Prices that the operator refunded although the answer was delivered. */
  refundsGranted: 'Expenses:RefundsGranted',
  /**
   * Price of delivered answers whose payments the chain could still drop. A memorandum without tokens, which exports
   * omit.
   */
  exposed: 'Memo:Exposed',
  exposedContra: 'Memo:ExposedContra',
} as const satisfies Readonly<Record<string, Account>>

const sharePrefix = 'Liabilities:Share:'

/** Returns the account of an earned share, which is owed to an account of the split. */
export function shareOf(name: string): Account {
  return owedTo(`${sharePrefix}${name}`)
}

/** Returns the name of the share in a ledger account, such as `treasury`. Undefined for an account that is not a share. */
export function shareName(account: string): string | undefined {
  return account.startsWith(sharePrefix) ? account.slice(sharePrefix.length) : undefined
}

/** Returns the account of tokens that were burned for answers of one endpoint. */
export function burnedFor(endpoint: string): Account {
  return `Expenses:Burned:${endpoint}`
}

/** Returns the account of amounts that a wallet paid in excess of the price. They are owed to the wallet. */
export function overpaidBy(wallet: Address): Account {
  return owedTo(`Liabilities:Overpaid:${wallet}`)
}

/**
 * Returns the account of refunds: payments without a delivery, granted refunds, and the unspent balances of closed
 * tabs. They are owed to the wallet.
 */
export function refundDueTo(wallet: Address): Account {
  return owedTo(`Liabilities:RefundsDue:${wallet}`)
}

/** Returns the account of unspent deposits on a tab. They are owed to the wallet that paid, until the tab spends them. */
export function prepaidOn(tab: string): Account {
  return `${accounts.prepaid}:${tab}`
}

/**
 * Returns the account of tokens that arrived without a request. An undefined wallet means that the sender is unknown,
 * for example because the tokens were minted to the payment wallet.
 */
export function unmatchedFrom(wallet: Address | undefined): Account {
  return wallet === undefined ? 'Liabilities:Unmatched:unknown' : owedTo(`Liabilities:Unmatched:${wallet}`)
}

const payable =
  /^Liabilities:(?:Share:[a-z][a-z0-9-]{0,31}|(?:Overpaid|RefundsDue|Unmatched):[1-9A-HJ-NP-Za-km-z]{32,44})$/

/**
 * Asserts that payouts accept the account. A malformed share name or wallet would create a debt that no payout could
 * settle.
 */
function owedTo(account: Account): Account {
  assert(isPayable(account), `${account} can be paid out`)
  return account
}

/** True if tokens may be paid out of this account. `ledger.record_payout` has the same list of accounts. */
export function isPayable(account: string): account is Account {
  return payable.test(account)
}
