import type { Address } from '@tollbook/core/address'
import { assert } from '@tollbook/core/assert'

/**
 * Name of a ledger account. The names follow plain-text accounting, so exports to beancount and hledger change only the
 * part after the second colon (journalAccount.ts). In accounting code, an account is always a ledger account. An
 * account on chain is called a wallet or a token account.
 */
export type Account = `${'Assets' | 'Liabilities' | 'Expenses' | 'Income' | 'Memo'}:${string}`

export const accounts = {
  /** Reconciled against the token account of the payment wallet on chain. */
  paymentWallet: 'Assets:PaymentWallet',
  /** Received for payments without a delivery yet, and owed to the callers. */
  unearned: 'Liabilities:Unearned',
  /** Reports sum the accounts of all tabs in this line. */
  prepaid: 'Liabilities:Prepaid',
  /** Tokens received for burns that the service has not made yet. */
  burnOwed: 'Liabilities:BurnOwed',
  /** Tokens that the treasury has to deliver for burns of sales in dollars. Negative if it has delivered ahead. */
  tokensToDeliver: 'Assets:TokensToDeliver',
  /** Counterpart of the accounts `Expenses:Burned:<endpoint>`. */
  burnedByCallers: 'Income:BurnedByCallers',
  /** Loss from answers whose payments the chain dropped after the delivery. */
  reversedPayments: 'Expenses:ReversedPayments',
  /** Refunds of delivered answers that the operator granted. */
  refundsGranted: 'Expenses:RefundsGranted',
  /**
   * A memorandum without tokens, which exports omit: prices of claimed or delivered answers whose payments the chain
   * could still drop.
   */
  exposed: 'Memo:Exposed',
  exposedContra: 'Memo:ExposedContra',
} as const satisfies Readonly<Record<string, Account>>

const sharePrefix = 'Liabilities:Share:'

export function shareOf(name: string): Account {
  return owedTo(`${sharePrefix}${name}`)
}

export function shareName(account: string): string | undefined {
  return account.startsWith(sharePrefix) ? account.slice(sharePrefix.length) : undefined
}

export function burnedFor(endpoint: string): Account {
  return `Expenses:Burned:${endpoint}`
}

export function overpaidBy(wallet: Address): Account {
  return owedTo(`Liabilities:Overpaid:${wallet}`)
}

/** Debt to the wallet for payments without a delivery, granted refunds, and the unspent balances of closed tabs. */
export function refundDueTo(wallet: Address): Account {
  return owedTo(`Liabilities:RefundsDue:${wallet}`)
}

/** Deposits that the tab has not spent yet. They are owed to the wallet that paid them. */
export function prepaidOn(tab: string): Account {
  return `${accounts.prepaid}:${tab}`
}

/** Undefined: the sender is unknown, for example because the tokens were minted to the payment wallet. */
export function unmatchedFrom(wallet: Address | undefined): Account {
  return wallet === undefined ? 'Liabilities:Unmatched:unknown' : owedTo(`Liabilities:Unmatched:${wallet}`)
}

const payable =
  /^Liabilities:(?:Share:[a-z][a-z0-9-]{0,31}|(?:Overpaid|RefundsDue|Unmatched):[1-9A-HJ-NP-Za-km-z]{32,44})$/

/** A malformed share name or wallet would create a debt that no payout could settle. */
function owedTo(account: Account): Account {
  assert(isPayable(account), `${account} can be paid out`)
  return account
}

/**
 * True for an account that a payout may pay. The step `payout.record` permits the same accounts
 * (migrations/kinds/payout.sql).
 */
export function isPayable(account: string): account is Account {
  return payable.test(account)
}
