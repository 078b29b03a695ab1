import { classOf } from './accountClass.ts'
import type { DerivedPosting } from './postings.ts'
import { ownCopy } from './priceReader.ts'

/** An account's sums, derived from the events. Debits are positive. */
export interface AccountTotals {
  readonly account: string
  readonly mint: string
  readonly isHourly: boolean
  balanceBaseUnits: bigint
  debitEntries: number
  creditEntries: number
  uptoPosition: number
  /** When the event at that position was recorded. */
  uptoRecordedAtMs: number
}

/** Movements of an account in an hour. */
export interface HourTotals {
  readonly mint: string
  readonly account: string
  readonly startsAtMs: number
  amountBaseUnits: bigint
  /** Debits less credits. */
  entries: number
}

/** One posting, as the ledger must have it. */
export interface EnteredPosting {
  readonly debit: AccountTotals
  readonly credit: AccountTotals
  readonly amountBaseUnits: bigint
}

export interface JournalState {
  readonly accounts: readonly (Omit<AccountTotals, 'balanceBaseUnits'> & { readonly balance: string })[]
  readonly hours: readonly (Omit<HourTotals, 'amountBaseUnits'> & { readonly amount: string })[]
}

const hourMs = 60 * 60 * 1000

/** Every account's balance, and the hourly totals of those that have them, by mint. */
export class Journal {
  readonly #mints = new Map<string, Map<string, AccountTotals>>()
  readonly #hours = new Map<string, HourTotals>()

  constructor(state?: JournalState) {
    for (const { balance, ...totals } of state?.accounts ?? []) {
      const own = { ...totals, balanceBaseUnits: BigInt(balance) }
      this.#accountsOf(totals.mint).set(totals.account, own)
    }
    for (const { amount, ...totals } of state?.hours ?? []) {
      this.#hours.set(hourKey(totals), { ...totals, amountBaseUnits: BigInt(amount) })
    }
  }

  enter(mint: string, place: JournalPlace, postings: readonly DerivedPosting[]): readonly EnteredPosting[] {
    const accounts = this.#accountsOf(mint)
    return postings.map(([debitName, creditName, amountBaseUnits]) => {
      const debit = totalsOf(accounts, mint, debitName)
      const credit = totalsOf(accounts, mint, creditName)
      this.#move(debit, amountBaseUnits, place)
      this.#move(credit, -amountBaseUnits, place)
      return { debit, credit, amountBaseUnits }
    })
  }

  *accounts(): Iterable<AccountTotals> {
    for (const accounts of this.#mints.values()) yield* accounts.values()
  }

  mints(): readonly string[] {
    return [...this.#mints.keys()]
  }

  account(mint: string, account: string): AccountTotals | undefined {
    return this.#mints.get(mint)?.get(account)
  }

  hours(): ReadonlyMap<string, HourTotals> {
    return this.#hours
  }

  state(): JournalState {
    return {
      accounts: [...this.accounts()].map(({ balanceBaseUnits, ...totals }) => {
        return { ...totals, balance: balanceBaseUnits.toString() }
      }),
      hours: [...this.#hours.values()].map(({ amountBaseUnits, ...totals }) => {
        return { ...totals, amount: amountBaseUnits.toString() }
      }),
    }
  }

  #move(totals: AccountTotals, amountBaseUnits: bigint, { position, recordedAtMs, effectiveAtMs }: JournalPlace): void {
    totals.balanceBaseUnits += amountBaseUnits
    if (amountBaseUnits > 0n) totals.debitEntries++
    else totals.creditEntries++
    totals.uptoPosition = position
    totals.uptoRecordedAtMs = recordedAtMs
    if (!totals.isHourly) return
    const hour = this.#hourOf(totals, effectiveAtMs)
    hour.amountBaseUnits += amountBaseUnits
    hour.entries += amountBaseUnits > 0n ? 1 : -1
  }

  /** Totals go down in the hour in which they went up: a reversed burn takes effect at the time of the burn. */
  #hourOf({ mint, account }: AccountTotals, atMs: number): HourTotals {
    const startsAtMs = atMs - (((atMs % hourMs) + hourMs) % hourMs)
    const fresh = { mint, account, startsAtMs, amountBaseUnits: 0n, entries: 0 }
    const key = hourKey(fresh)
    const known = this.#hours.get(key) ?? fresh
    this.#hours.set(key, known)
    return known
  }

  #accountsOf(mint: string): Map<string, AccountTotals> {
    const known = this.#mints.get(mint)
    if (known !== undefined) return known
    const accounts = new Map<string, AccountTotals>()
    this.#mints.set(ownCopy(mint), accounts)
    return accounts
  }
}

/** The event that moves. */
export interface JournalPlace {
  readonly position: number
  readonly recordedAtMs: number
  readonly effectiveAtMs: number
}

function totalsOf(accounts: Map<string, AccountTotals>, mint: string, account: string): AccountTotals {
  const known = accounts.get(account)
  if (known !== undefined) return known
  const own = ownCopy(account)
  const nothing = { balanceBaseUnits: 0n, debitEntries: 0, creditEntries: 0, uptoPosition: 0, uptoRecordedAtMs: 0 }
  const totals = { account: own, mint: ownCopy(mint), isHourly: isHourly(own), ...nothing }
  accounts.set(own, totals)
  return totals
}

function isHourly(account: string): boolean {
  return classOf(account)?.isHourly === true
}

/** One key for stored and derived totals, so that they can be compared. */
export function hourKey({ mint, account, startsAtMs }: Pick<HourTotals, 'mint' | 'account' | 'startsAtMs'>): string {
  return `${mint} ${account} ${startsAtMs}`
}
