import { ownCopy } from './auditedPrice.ts'
import type { AuditedEvent, EventOf, PayoutEvent, Reversal } from './auditedEvent.ts'

/** An account's sums, derived from the events. Debits are positive. */
export interface AccountTotals {
  readonly account: string
  readonly mint: string
  balance: bigint
  entries: number
  uptoPosition: number
}

export interface BurnTotals {
  readonly mint: string
  readonly span: 'all' | 'day' | 'hour'
  /** Undefined for all of time. */
  readonly startsAtMs: number | undefined
  /** Empty for all endpoints. */
  readonly endpoint: string
  burned: bigint
  payments: number
}

/** One side of a posting, as the ledger must have it. */
export interface DerivedEntry {
  readonly position: number
  readonly line: number
  readonly totals: AccountTotals
  readonly amount: bigint
}

export interface JournalState {
  readonly accounts: readonly (Omit<AccountTotals, 'balance'> & { readonly balance: string })[]
  readonly burns: readonly (Omit<BurnTotals, 'burned' | 'startsAtMs'> & {
    readonly burned: string
    readonly startsAtMs: number | null
  })[]
}

type Posting = readonly [debit: string, credit: string, amount: bigint]

/** The accounts of one mint, and its burn totals by endpoint and hour. */
interface MintBook {
  readonly mint: string
  readonly accounts: Map<string, AccountTotals>
  readonly burns: Map<string, readonly BurnTotals[]>
}

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs
// Hours of endpoints whose totals are at hand; those of all hours are kept once, in `#burns`.
const handyBurnsMax = 1_000

/**
 * Double entry derived a second time, from the table in docs/ledger.md: what each event debits and credits, every
 * account's balance, and the burn statistics.
 */
export class Journal {
  readonly #books = new Map<string, MintBook>()
  readonly #burns = new Map<string, BurnTotals>()
  #book: MintBook | undefined
  #entries: DerivedEntry[] = []

  constructor(state?: JournalState) {
    for (const totals of state?.accounts ?? []) {
      const own = { ...totals, balance: BigInt(totals.balance) }
      this.#bookOf(totals.mint).accounts.set(totals.account, own)
    }
    for (const { startsAtMs, burned, ...totals } of state?.burns ?? []) {
      const own = { ...totals, startsAtMs: startsAtMs ?? undefined, burned: BigInt(burned) }
      this.#burns.set(burnKey(own), own)
    }
  }

  post(event: AuditedEvent, position: number): void {
    if (event.kind === 'PaymentVerified') this.#receive(event, position)
    else if (event.kind === 'TokensBurned') this.#burn(event, position)
    else if (event.kind === 'DistributionAllocated') this.#distribute(event, position)
    else if (event.kind === 'PaymentReversed') this.#reverse(event, position)
    else if (event.kind === 'RefundDue') this.#refund(event, position)
    else if (event.kind === 'TransferReceived') this.#receiveUnmatched(event, position)
    else if (event.kind === 'DistributionPaid') this.#payOut(event, position)
  }

  /** A burn that the chain has dropped leaves the hour, the day and the endpoint that it was counted in. */
  takeBackBurn({ mint, endpoint, burnedBaseUnits }: Reversal, burnedAtMs: number): void {
    if (burnedBaseUnits > 0n)
      this.#countBurn(this.#bookOf(mint), { endpoint, atMs: burnedAtMs, burned: -burnedBaseUnits })
  }

  /** The entries since the last call, in the order of the ledger. */
  takeEntries(): readonly DerivedEntry[] {
    const taken = this.#entries
    this.#entries = []
    return taken
  }

  *accounts(): Iterable<AccountTotals> {
    for (const { accounts } of this.#books.values()) yield* accounts.values()
  }

  mints(): readonly string[] {
    return [...this.#books.keys()]
  }

  account(mint: string, account: string): AccountTotals | undefined {
    return this.#books.get(mint)?.accounts.get(account)
  }

  burns(): ReadonlyMap<string, BurnTotals> {
    return this.#burns
  }

  state(): JournalState {
    return {
      accounts: [...this.accounts()].map((totals) => ({ ...totals, balance: totals.balance.toString() })),
      burns: [...this.#burns.values()].map((totals) => {
        return { ...totals, burned: totals.burned.toString(), startsAtMs: totals.startsAtMs ?? null }
      }),
    }
  }

  #receive({ settlement }: EventOf<'PaymentVerified'>, position: number): void {
    const { price, wallet, receivedBaseUnits } = settlement
    const owed = price.requiredBaseUnits - price.burnBaseUnits
    const over = receivedBaseUnits - owed
    const postings: Posting[] = [['Assets:PaymentWallet', 'Liabilities:Unearned', owed]]
    if (over !== 0n) postings.push(['Assets:PaymentWallet', `Liabilities:Overpaid:${wallet}`, over])
    this.#enter(this.#bookOf(price.mint), position, postings)
  }

  #burn({ mint, endpoint, burnedBaseUnits, effectiveAtMs }: EventOf<'TokensBurned'>, position: number): void {
    const book = this.#bookOf(mint)
    this.#enter(book, position, [['Expenses:Burned', 'Income:BurnedByCallers', burnedBaseUnits]])
    if (burnedBaseUnits > 0n) this.#countBurn(book, { endpoint, atMs: effectiveAtMs, burned: burnedBaseUnits })
  }

  #countBurn(
    book: MintBook,
    { endpoint, atMs, burned }: { readonly endpoint: string; readonly atMs: number; readonly burned: bigint },
  ): void {
    const hour = atMs - (atMs % hourMs)
    const handy = `${endpoint} ${hour}`
    let totals = book.burns.get(handy)
    if (totals === undefined) {
      if (book.burns.size >= handyBurnsMax) book.burns.clear()
      totals = this.#burnsAt(book.mint, endpoint, hour)
      book.burns.set(ownCopy(handy), totals)
    }
    for (const total of totals) {
      total.burned += burned
      total.payments += burned > 0n ? 1 : -1
    }
  }

  #burnsAt(mint: string, endpoint: string, hour: number): readonly BurnTotals[] {
    const own = ownCopy(endpoint)
    const day = hour - (hour % dayMs)
    return [
      this.#burnOf({ mint, span: 'all', startsAtMs: undefined, endpoint: '', burned: 0n, payments: 0 }),
      this.#burnOf({ mint, span: 'all', startsAtMs: undefined, endpoint: own, burned: 0n, payments: 0 }),
      this.#burnOf({ mint, span: 'day', startsAtMs: day, endpoint: '', burned: 0n, payments: 0 }),
      this.#burnOf({ mint, span: 'hour', startsAtMs: hour, endpoint: '', burned: 0n, payments: 0 }),
    ]
  }

  #burnOf(fresh: BurnTotals): BurnTotals {
    const key = burnKey(fresh)
    const known = this.#burns.get(key) ?? fresh
    this.#burns.set(key, known)
    return known
  }

  #distribute(event: EventOf<'DistributionAllocated'>, position: number): void {
    this.#enter(this.#bookOf(event.mint), position, [
      ['Liabilities:Unearned', 'Liabilities:Provider', event.providerBaseUnits],
      ['Liabilities:Unearned', 'Liabilities:Holders', event.holdersBaseUnits],
      ['Liabilities:Unearned', 'Liabilities:Treasury', event.treasuryBaseUnits],
    ])
  }

  /** What arrived has never arrived; what was earned with it stays owed, and becomes a loss. */
  #reverse(event: EventOf<'PaymentReversed'>, position: number): void {
    this.#enter(this.#bookOf(event.mint), position, [
      ['Liabilities:Unearned', 'Assets:PaymentWallet', event.unearnedBaseUnits],
      ['Expenses:ReversedPayments', 'Assets:PaymentWallet', event.lostBaseUnits],
      [`Liabilities:Overpaid:${event.wallet}`, 'Assets:PaymentWallet', event.overpaidBaseUnits],
      ['Income:BurnedByCallers', 'Expenses:Burned', event.burnedBaseUnits],
    ])
  }

  #refund({ mint, wallet, refundBaseUnits }: EventOf<'RefundDue'>, position: number): void {
    const owed = `Liabilities:RefundsDue:${wallet}`
    this.#enter(this.#bookOf(mint), position, [['Liabilities:Unearned', owed, refundBaseUnits]])
  }

  #receiveUnmatched({ mint, wallet, receivedBaseUnits }: EventOf<'TransferReceived'>, position: number): void {
    const owed = `Liabilities:Unmatched:${wallet ?? 'unknown'}`
    this.#enter(this.#bookOf(mint), position, [['Assets:PaymentWallet', owed, receivedBaseUnits]])
  }

  #payOut({ mint, payments }: PayoutEvent, position: number): void {
    const postings = payments.map(({ account, paidBaseUnits }): Posting => {
      return [account, 'Assets:PaymentWallet', paidBaseUnits]
    })
    this.#enter(this.#bookOf(mint), position, postings)
  }

  #enter(book: MintBook, position: number, postings: readonly Posting[]): void {
    let line = 0
    for (const [debit, credit, amount] of postings) {
      // A posting of nothing is no posting.
      if (amount === 0n) continue
      this.#add({ position, line: line++, totals: totalsOf(book, debit), amount })
      this.#add({ position, line: line++, totals: totalsOf(book, credit), amount: -amount })
    }
  }

  #add(entry: DerivedEntry): void {
    const { totals, amount, position } = entry
    totals.balance += amount
    totals.entries++
    totals.uptoPosition = position
    this.#entries.push(entry)
  }

  #bookOf(mint: string): MintBook {
    if (this.#book?.mint === mint) return this.#book
    const own = this.#books.get(mint) ?? { mint: ownCopy(mint), accounts: new Map(), burns: new Map() }
    this.#books.set(own.mint, own)
    this.#book = own
    return own
  }
}

function totalsOf({ mint, accounts }: MintBook, account: string): AccountTotals {
  const known = accounts.get(account)
  if (known !== undefined) return known
  const own = ownCopy(account)
  const totals = { account: own, mint, balance: 0n, entries: 0, uptoPosition: 0 }
  accounts.set(own, totals)
  return totals
}

/** The same for a row of `ledger.burn_totals` and for what was derived. */
export function burnKey({
  mint,
  span,
  startsAtMs,
  endpoint,
}: Pick<BurnTotals, 'mint' | 'startsAtMs' | 'endpoint'> & { readonly span: string }): string {
  return `${mint} ${span} ${startsAtMs ?? ''} ${endpoint}`
}
