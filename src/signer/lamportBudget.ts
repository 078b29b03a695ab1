import { assert } from '@tollbook/core/assert'

/** Limits of what the fee payer may be charged, in lamports. A day begins at midnight UTC. */
export interface LamportLimits {
  readonly perDay: number
  readonly perWalletAndDay: number
  readonly perPayment: number
}

export interface Expense {
  readonly atMs: number
  readonly wallet: string
  readonly lamports: number
}

export type OverBudget = keyof LamportLimits

/** Counts in memory what the fee payer has spent on a UTC day. */
export interface LamportBudget {
  /** Takes the expense out of the budget, or names the limit that it would exceed. */
  spend(expense: Expense): OverBudget | undefined
  /** The rest of the day's budget. */
  leftLamports(atMs: number): number
}

const dayMs = 24 * 60 * 60 * 1000
const dayOf = (atMs: number): number => Math.floor(atMs / dayMs)

interface Day {
  readonly number: number
  lamports: number
  readonly byWallet: Map<string, number>
}

// Days that are remembered: those of a clock that was wrong, and the last ones.
const daysMax = 64

/** Counts every signature as its highest possible fee, also if the transaction never lands. */
export function createLamportBudget(limits: LamportLimits, earlier: readonly Expense[]): LamportBudget {
  const days = new Map<number, Day>()
  let today = dayAt(0)

  function dayAt(number: number): Day {
    const day = days.get(number) ?? { number, lamports: 0, byWallet: new Map() }
    days.set(number, day)
    const [oldest] = days.keys()
    if (days.size > daysMax && oldest !== undefined) days.delete(oldest)
    return day
  }
  function turnTo(atMs: number): Day {
    const number = dayOf(atMs)
    // A clock that is set back around midnight does not open another budget. One that was years ahead is right again.
    if (number !== today.number && number !== today.number - 1) today = dayAt(number)
    return today
  }
  function note({ atMs, wallet, lamports }: Expense): void {
    const day = turnTo(atMs)
    day.lamports += lamports
    day.byWallet.set(wallet, (day.byWallet.get(wallet) ?? 0) + lamports)
  }

  for (const expense of earlier) note(expense)
  return {
    spend(expense) {
      const { atMs, wallet, lamports } = expense
      assert(lamports > 0, 'a signature costs something')
      const day = turnTo(atMs)
      if (lamports > limits.perPayment) return 'perPayment'
      if ((day.byWallet.get(wallet) ?? 0) + lamports > limits.perWalletAndDay) return 'perWalletAndDay'
      if (day.lamports + lamports > limits.perDay) return 'perDay'
      note(expense)
      return undefined
    },
    leftLamports: (atMs) => limits.perDay - turnTo(atMs).lamports,
  }
}
