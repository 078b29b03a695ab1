/*
 * The account classes of docs/ledger.md, declared again for this auditor, so that a changed row in the database is
 * found. Debits are positive.
 */

export interface AccountClass {
  readonly class: string
  /** The whole name if `isExact`, otherwise the start of the name. */
  readonly prefix: string
  readonly isExact: boolean
  /** Lower and upper limit of the balance in base units, as decimal text. Null: no limit. */
  readonly floor: string | null
  readonly ceiling: string | null
  /** True if the ledger also sums debits less credits for each hour. */
  readonly isHourly: boolean
  /** The wallets to which payouts may pay this debt. Undefined if payouts do not pay it. */
  readonly payableTo?: 'its wallet' | 'any wallet'
}

const debt = { floor: null, ceiling: '0', isHourly: false }
const unlimited = { floor: null, ceiling: null, isHourly: false }

export const accountClasses: readonly AccountClass[] = [
  { class: 'wallet', prefix: 'Assets:PaymentWallet', isExact: true, ...unlimited },
  { class: 'unearned', prefix: 'Liabilities:Unearned', isExact: true, ...debt },
  { class: 'share', prefix: 'Liabilities:Share:', isExact: false, ...debt, payableTo: 'any wallet' },
  { class: 'overpaid', prefix: 'Liabilities:Overpaid:', isExact: false, ...debt, payableTo: 'its wallet' },
  { class: 'refund', prefix: 'Liabilities:RefundsDue:', isExact: false, ...debt, payableTo: 'its wallet' },
  { class: 'unmatched', prefix: 'Liabilities:Unmatched:', isExact: false, ...debt, payableTo: 'its wallet' },
  { class: 'prepaid', prefix: 'Liabilities:Prepaid:', isExact: false, ...debt, isHourly: true },
  { class: 'burn_owed', prefix: 'Liabilities:BurnOwed', isExact: true, ...debt },
  // The balance is negative if the treasury delivered more tokens than the sales so far required.
  { class: 'to_deliver', prefix: 'Assets:TokensToDeliver', isExact: true, ...unlimited },
  { class: 'burned', prefix: 'Expenses:Burned:', isExact: false, ...unlimited },
  // The hourly totals of burns by callers use this account, because it has one balance for all endpoints.
  { class: 'burned_by_callers', prefix: 'Income:BurnedByCallers', isExact: true, ...unlimited, isHourly: true },
  { class: 'lost', prefix: 'Expenses:ReversedPayments', isExact: true, ...unlimited },
  { class: 'granted', prefix: 'Expenses:RefundsGranted', isExact: true, ...unlimited, floor: '0' },
  { class: 'exposed', prefix: 'Memo:Exposed', isExact: true, ...unlimited, floor: '0' },
  { class: 'exposed_contra', prefix: 'Memo:ExposedContra', isExact: true, ...debt },
]

/** Returns the class of an account. Undefined if the name belongs to no class. */
export function classOf(account: string): AccountClass | undefined {
  return accountClasses.find(({ prefix, isExact }) =>
    isExact ? account === prefix : account.startsWith(prefix) && account !== prefix,
  )
}
