import type { Replay } from './replay.ts'

/** Burned and owed tokens of one mint, derived from the bodies of the events. Base units as decimal strings. */
export interface BurnFigures {
  readonly mint: string
  /** Burned by callers inside their payments. */
  readonly insidePaymentsBaseUnits: string
  /** Owed by payments without a burn, and burned later by the service. */
  readonly confirmedBaseUnits: string
  /** Received for burning and not burned yet. */
  readonly owedBaseUnits: string
  readonly confirmedRounds: number
}

/** Burns that are done and burns that are owed, which no figure adds together. */
export function burnFiguresOf({ journal, payouts }: Pick<Replay, 'journal' | 'payouts'>): readonly BurnFigures[] {
  return [...journal.mints()].map((mint) => {
    const rounds = payouts.rounds().filter((round) => round.mint === mint && round.end === 'confirmed')
    const confirmed = rounds.reduce((sum, { burnBaseUnits }) => sum + BigInt(burnBaseUnits), 0n)
    const balances = [...journal.accounts()].filter((account) => account.mint === mint)
    const burned = balances
      .filter(({ account }) => account.startsWith('Expenses:Burned:'))
      .reduce((sum, { balanceBaseUnits }) => sum + balanceBaseUnits, 0n)
    return {
      mint,
      insidePaymentsBaseUnits: (burned - confirmed).toString(),
      confirmedBaseUnits: confirmed.toString(),
      owedBaseUnits: (-(journal.account(mint, 'Liabilities:BurnOwed')?.balanceBaseUnits ?? 0n)).toString(),
      confirmedRounds: rounds.length,
    }
  })
}
