import { burnRoundsOf } from './kinds/burn.ts'
import type { Replay } from './replay.ts'

/** Burned and owed tokens of one mint, derived from the bodies of the events. Amounts are base units as decimal strings. */
export interface BurnFigures {
  readonly mint: string
  readonly insidePaymentsBaseUnits: string
  /** Owed by payments without a burn inside, and burned later by the service. */
  readonly confirmedBaseUnits: string
  /** Received for burning and not burned yet. */
  readonly owedBaseUnits: string
  readonly confirmedRounds: number
}

/** Returns the completed burns and the owed burns as separate figures. They are never added together. */
export function burnFiguresOf({ postings, state }: Pick<Replay, 'postings' | 'state'>): readonly BurnFigures[] {
  const burned = new Map<string, bigint>()
  for (const { mint, account, balanceBaseUnits } of postings.accounts())
    burned.set(mint, (burned.get(mint) ?? 0n) + (account.startsWith('Expenses:Burned:') ? balanceBaseUnits : 0n))
  return [...burned].map(([mint, burnedBaseUnits]) => {
    const rounds = burnRoundsOf(state).filter((round) => round.mint === mint && round.end === 'confirmed')
    const confirmed = rounds.reduce((sum, { burnBaseUnits }) => sum + burnBaseUnits, 0n)
    return {
      mint,
      insidePaymentsBaseUnits: (burnedBaseUnits - confirmed).toString(),
      confirmedBaseUnits: confirmed.toString(),
      owedBaseUnits: (-postings.balanceOf(mint, 'Liabilities:BurnOwed')).toString(),
      confirmedRounds: rounds.length,
    }
  })
}
