import { burnRoundsOf } from './kinds/burn.ts'
import type { Replay } from './replay.ts'

/** Burned and owed tokens of one mint, derived from the event bodies. Amounts are base units as decimal strings. */
export interface BurnFigures {
  readonly mint: string
  readonly insidePaymentsBaseUnits: string
  /** Tokens that the service burned later, in confirmed rounds. */
  readonly confirmedBaseUnits: string
  /** Tokens that the service owes to burn and has not burned yet. */
  readonly owedBaseUnits: string
  readonly confirmedRounds: number
}

/** Returns the burns of each mint. Completed and owed burns stay separate, because an owed burn may never happen. */
export function burnFiguresOf({ postings, state }: Pick<Replay, 'postings' | 'state'>): readonly BurnFigures[] {
  const burned = new Map<string, bigint>()
  for (const { mint, account, balanceBaseUnits } of postings.accounts())
    burned.set(mint, (burned.get(mint) ?? 0n) + (account.startsWith('Expenses:Burned:') ? balanceBaseUnits : 0n))
  return [...burned].map(([mint, burnedBaseUnits]) => {
    const rounds = burnRoundsOf(state).filter((round) => round.mint === mint && round.end === 'confirmed')
    const confirmedBaseUnits = rounds.reduce((sum, { burnBaseUnits }) => sum + burnBaseUnits, 0n)
    return {
      mint,
      insidePaymentsBaseUnits: (burnedBaseUnits - confirmedBaseUnits).toString(),
      confirmedBaseUnits: confirmedBaseUnits.toString(),
      owedBaseUnits: (-postings.balanceOf(mint, 'Liabilities:BurnOwed')).toString(),
      confirmedRounds: rounds.length,
    }
  })
}
