/*
 * The classes of accounts as this auditor knows them (docs/ledger.md): by which name an account belongs to a class, and
 * between which limits its balance stays. Debits are positive.
 */

export interface AccountClass {
  readonly class: string
  /** The whole name, or what the name begins with. */
  readonly prefix: string
  readonly isExact: boolean
  readonly floorBaseUnits: bigint | undefined
  readonly ceilingBaseUnits: bigint | undefined
  /** Debits less credits are counted by the hour too. */
  readonly isHourly: boolean
  /** A debt that payouts pay: to the wallet in its name, or to any wallet. */
  readonly payableTo?: 'its wallet' | 'any wallet'
}

const debt = { floorBaseUnits: undefined, ceilingBaseUnits: 0n, isHourly: false }
const unlimited = { floorBaseUnits: undefined, ceilingBaseUnits: undefined, isHourly: false }

export const accountClasses: readonly AccountClass[] = [
  { class: 'wallet', prefix: 'Assets:PaymentWallet', isExact: true, ...unlimited },
  { class: 'unearned', prefix: 'Liabilities:Unearned', isExact: true, ...debt },
  { class: 'share', prefix: 'Liabilities:Share:', isExact: false, ...debt, payableTo: 'any wallet' },
  { class: 'overpaid', prefix: 'Liabilities:Overpaid:', isExact: false, ...debt, payableTo: 'its wallet' },
  { class: 'refund', prefix: 'Liabilities:RefundsDue:', isExact: false, ...debt, payableTo: 'its wallet' },
  { class: 'unmatched', prefix: 'Liabilities:Unmatched:', isExact: false, ...debt, payableTo: 'its wallet' },
  { class: 'burn_owed', prefix: 'Liabilities:BurnOwed', isExact: true, ...debt },
  { class: 'burned', prefix: 'Expenses:Burned:', isExact: false, ...unlimited },
  // Counted by the hour here and not for each endpoint.
  { class: 'burned_by_callers', prefix: 'Income:BurnedByCallers', isExact: true, ...unlimited, isHourly: true },
  { class: 'lost', prefix: 'Expenses:ReversedPayments', isExact: true, ...unlimited },
  { class: 'granted', prefix: 'Expenses:RefundsGranted', isExact: true, ...unlimited, floorBaseUnits: 0n },
  { class: 'exposed', prefix: 'Memo:Exposed', isExact: true, ...unlimited, floorBaseUnits: 0n },
  { class: 'exposed_contra', prefix: 'Memo:ExposedContra', isExact: true, ...debt },
]

/** Undefined for an account that no event of this ledger can name. */
export function classOf(account: string): AccountClass | undefined {
  return accountClasses.find(({ prefix, isExact }) =>
    isExact ? account === prefix : account.startsWith(prefix) && account !== prefix,
  )
}
