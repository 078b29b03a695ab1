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

/** Counts every signature as its highest possible fee, also if the transaction never lands. */
export function createLamportBudget(limits: LamportLimits, earlier: readonly Expense[]): LamportBudget {
  let day = 0
  let spent = 0
  let spentByWallet = new Map<string, number>()

  function turnTo(atMs: number): void {
    // A clock that is set back does not open the budget of the day again.
    if (dayOf(atMs) <= day) return
    day = dayOf(atMs)
    spent = 0
    spentByWallet = new Map()
  }
  function note({ wallet, lamports }: Expense): void {
    spent += lamports
    spentByWallet.set(wallet, (spentByWallet.get(wallet) ?? 0) + lamports)
  }

  for (const expense of earlier) {
    turnTo(expense.atMs)
    if (dayOf(expense.atMs) === day) note(expense)
  }
  return {
    spend(expense) {
      const { atMs, wallet, lamports } = expense
      assert(lamports > 0, 'a signature costs something')
      turnTo(atMs)
      if (lamports > limits.perPayment) return 'perPayment'
      if ((spentByWallet.get(wallet) ?? 0) + lamports > limits.perWalletAndDay) return 'perWalletAndDay'
      if (spent + lamports > limits.perDay) return 'perDay'
      note(expense)
      return undefined
    },
    leftLamports(atMs) {
      turnTo(atMs)
      return limits.perDay - spent
    },
  }
}
