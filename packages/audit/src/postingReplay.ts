import { z } from 'zod'
import { classOf } from './accountClass.ts'
import type { AuditState } from './auditState.ts'
import { amount, flag, type StoredRows } from './storedRows.ts'

/** Totals of one account, derived from the events. Debits are positive. */
export type AccountTotals = z.infer<typeof accountTotals>

const accountTotals = z.object({
  id: z.string(),
  mint: z.string(),
  account: z.string(),
  isHourly: flag,
  balanceBaseUnits: amount,
  debitEntries: z.number(),
  creditEntries: z.number(),
  uptoPosition: z.number(),
  /** Time at which the event at `uptoPosition` was recorded. */
  uptoRecordedAtMs: z.number(),
})

const hourTotals = z.object({
  id: z.string(),
  mint: z.string(),
  account: z.string(),
  startsAtMs: z.number(),
  amountBaseUnits: amount,
  /** Number of debits less number of credits, so that an entry and its reversal cancel out. */
  entries: z.number(),
})

type HourTotals = z.infer<typeof hourTotals>

export type DerivedPosting = readonly [debit: string, credit: string, amountBaseUnits: bigint]

export interface EnteredPosting {
  readonly debit: AccountTotals
  readonly credit: AccountTotals
  readonly amountBaseUnits: bigint
}

const hourMs = 60 * 60 * 1000

export class PostingReplay {
  readonly #accounts: StoredRows<AccountTotals>
  readonly #hours: StoredRows<HourTotals>

  constructor(state: AuditState) {
    this.#accounts = state.rows({ name: 'accounts', key: 'id', schema: accountTotals })
    this.#hours = state.rows({ name: 'hours', key: 'id', schema: hourTotals })
  }

  enter(mint: string, place: PostingPlace, postings: readonly DerivedPosting[]): readonly EnteredPosting[] {
    return postings.map(([debitName, creditName, amountBaseUnits]) => {
      const debit = this.#totalsOf(mint, debitName)
      const credit = this.#totalsOf(mint, creditName)
      this.#move(debit, amountBaseUnits, place)
      this.#move(credit, -amountBaseUnits, place)
      return { debit, credit, amountBaseUnits }
    })
  }

  accounts(): Generator<AccountTotals> {
    return this.#accounts.select('order by rowid')
  }

  hours(): Generator<HourTotals> {
    return this.#hours.select('order by rowid')
  }

  /** Returns the mints in the order of their first posting. */
  mints(): readonly string[] {
    return [...new Set(Array.from(this.accounts(), ({ mint }) => mint))]
  }

  has(mint: string, account: string): boolean {
    return this.#accounts.find(idOf(mint, account)) !== undefined
  }

  /** Returns the balance of an account in base units, debits less credits. 0 if no event moved it. */
  balanceOf(mint: string, account: string): bigint {
    return this.#accounts.find(idOf(mint, account))?.balanceBaseUnits ?? 0n
  }

  #totalsOf(mint: string, account: string): AccountTotals {
    const id = idOf(mint, account)
    const nothing = { balanceBaseUnits: 0n, debitEntries: 0, creditEntries: 0, uptoPosition: 0, uptoRecordedAtMs: 0 }
    return (
      this.#accounts.find(id) ??
      this.#accounts.add(id, { id, mint, account, isHourly: classOf(account)?.isHourly === true, ...nothing })
    )
  }

  #move(totals: AccountTotals, amountBaseUnits: bigint, { position, recordedAtMs, effectiveAtMs }: PostingPlace): void {
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

  /**
   * Returns the totals of the hour that contains this time. A reversed burn takes effect at the time of the burn, so it
   * reduces the totals of the same hour.
   */
  #hourOf({ mint, account }: AccountTotals, atMs: number): HourTotals {
    // A time before 1970 is negative, and so is its remainder.
    const startsAtMs = atMs - (((atMs % hourMs) + hourMs) % hourMs)
    const id = `${idOf(mint, account)} ${startsAtMs}`
    return (
      this.#hours.find(id) ?? this.#hours.add(id, { id, mint, account, startsAtMs, amountBaseUnits: 0n, entries: 0 })
    )
  }
}

/** Returns a key that is unambiguous, because mints do not contain spaces. */
export function idOf(mint: string, account: string): string {
  return `${mint} ${account}`
}

export interface PostingPlace {
  readonly position: number
  readonly recordedAtMs: number
  readonly effectiveAtMs: number
}
