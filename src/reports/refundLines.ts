import { smaller } from '@tollbook/core/money'

/*
 * Attributes payouts to payments. All debts of one kind to a wallet share an account, which a payout pays. A payout
 * first covers approved debts in the order of their approvals, then other debts in the order in which they arose.
 */

export type RefundMove =
  /** A new debt. `baseUnits` is negative if the debt was taken back, for example by a reversal. */
  | (MoveBase & { readonly kind: 'owed'; readonly reference: string })
  | (MoveBase & { readonly kind: 'decided'; readonly reference: string; readonly decision: RefundDecisionFact })
  | (MoveBase & { readonly kind: 'paid'; readonly payout: PayoutFact })

interface MoveBase {
  readonly position: number
  readonly account: string
  readonly mint: string
  readonly baseUnits: bigint
}

export interface RefundDecisionFact {
  /** `approved`: confirms an existing debt. `granted`: creates a debt. */
  readonly kind: 'approved' | 'granted'
  readonly by: string
  readonly role: string
  readonly reason: string
  readonly decidedAt: string
  readonly position: number
}

export interface PayoutFact {
  readonly reference: string
  readonly paidAt: string
}

export const refundStates = ['due', 'approved', 'part_paid', 'paid'] as const
export type RefundStateName = (typeof refundStates)[number]

export interface RefundLine {
  readonly reference: string
  readonly account: string
  readonly mint: string
  readonly cause: 'undelivered' | 'overpaid' | 'unmatched' | 'granted' | 'tab_closed'
  readonly state: RefundStateName
  readonly owedBaseUnits: bigint
  readonly approvedBaseUnits: bigint
  readonly paidBaseUnits: bigint
  readonly decisions: readonly RefundDecisionFact[]
  /**
   * Payouts that covered this debt. A payout is recorded once the chain can no longer drop it, so a paid debt is
   * confirmed.
   */
  readonly payouts: readonly PayoutFact[]
  readonly position: number
}

interface Open {
  readonly reference: string
  readonly account: string
  readonly mint: string
  readonly position: number
  owedBaseUnits: bigint
  approvedBaseUnits: bigint
  paidBaseUnits: bigint
  approvedAt: number
  readonly decisions: RefundDecisionFact[]
  readonly payouts: PayoutFact[]
}

/** Returns the line for JSON. Amounts become text, because JSON has no bigint. */
export function refundJson(line: RefundLine) {
  const { owedBaseUnits, approvedBaseUnits, paidBaseUnits, decisions, payouts, ...rest } = line
  return {
    ...rest,
    owedBaseUnits: owedBaseUnits.toString(),
    approvedBaseUnits: approvedBaseUnits.toString(),
    paidBaseUnits: paidBaseUnits.toString(),
    decisions: decisions.map((decision) => ({ ...decision })),
    payouts: payouts.map((payout) => ({ ...payout })),
  }
}

/**
 * Returns one line for each debt. `moves` must contain all moves of each account that had a payout, because payouts are
 * attributed in order.
 */
export function refundLines(moves: readonly RefundMove[]): readonly RefundLine[] {
  const lines = new Map<string, Open>()
  for (const move of moves.toSorted((one, other) => one.position - other.position)) {
    if (move.kind === 'paid')
      pay(
        [...lines.values()].filter(({ account, mint }) => account === move.account && mint === move.mint),
        move,
      )
    else note(lineOf(lines, move), move)
  }
  // Omit debts that were taken back, for example by a reversal.
  return [...lines.values()].filter(({ owedBaseUnits }) => owedBaseUnits > 0n).map(shown)
}

function lineOf(
  lines: Map<string, Open>,
  { reference, account, mint, position }: Pick<Open, 'reference' | 'account' | 'mint' | 'position'>,
): Open {
  const key = `${reference} ${account} ${mint}`
  const known = lines.get(key)
  if (known !== undefined) return known
  const fresh = {
    owedBaseUnits: 0n,
    approvedBaseUnits: 0n,
    paidBaseUnits: 0n,
    approvedAt: Infinity,
    decisions: [],
    payouts: [],
  }
  const line: Open = { reference, account, mint, position, ...fresh }
  lines.set(key, line)
  return line
}

function note(line: Open, move: Exclude<RefundMove, { kind: 'paid' }>): void {
  if (move.kind === 'owed') {
    line.owedBaseUnits += move.baseUnits
    return
  }
  line.approvedBaseUnits += move.baseUnits
  line.approvedAt = Math.min(line.approvedAt, move.position)
  if (move.decision.kind === 'granted') line.owedBaseUnits += move.baseUnits
  line.decisions.push(move.decision)
}

function pay(lines: readonly Open[], { baseUnits, payout }: RefundMove & { readonly kind: 'paid' }): void {
  let leftBaseUnits = baseUnits
  const approved = lines.toSorted((one, other) => one.approvedAt - other.approvedAt)
  const give = (line: Open, mostBaseUnits: bigint): void => {
    const partBaseUnits = smaller(mostBaseUnits, leftBaseUnits)
    if (partBaseUnits <= 0n) return
    leftBaseUnits -= partBaseUnits
    line.paidBaseUnits += partBaseUnits
    if (!line.payouts.includes(payout)) line.payouts.push(payout)
  }
  for (const line of approved) give(line, smaller(line.approvedBaseUnits, line.owedBaseUnits) - line.paidBaseUnits)
  for (const line of lines) give(line, line.owedBaseUnits - line.paidBaseUnits)
}

function shown(open: Open): RefundLine {
  const { approvedAt: _approvedAt, ...line } = open
  const approvedBaseUnits = smaller(open.approvedBaseUnits, open.owedBaseUnits)
  return { ...line, approvedBaseUnits, cause: causeOf(open), state: stateOf(open) }
}

function stateOf({ owedBaseUnits, approvedBaseUnits, paidBaseUnits }: Open): RefundStateName {
  if (paidBaseUnits >= owedBaseUnits) return 'paid'
  if (paidBaseUnits > 0n) return 'part_paid'
  return approvedBaseUnits >= owedBaseUnits ? 'approved' : 'due'
}

function causeOf({ account, reference, decisions }: Open): RefundLine['cause'] {
  if (decisions.some(({ kind }) => kind === 'granted')) return 'granted'
  if (reference.startsWith('tab:')) return 'tab_closed'
  if (account.startsWith('Liabilities:Overpaid:')) return 'overpaid'
  return account.startsWith('Liabilities:Unmatched:') ? 'unmatched' : 'undelivered'
}
