import { z } from 'zod'
import { type AuditState, StateDocument } from '../auditState.ts'
import { baseUnits } from '../body.ts'
import { declareStep } from '../declaredKind.ts'
import { solanaId } from '../streamName.ts'
import { type AuditedKind, type Blame, bodyOf, eventOf, type Judged } from './auditedKind.ts'
import { noteBurnOwed } from './burnsOwed.ts'

/*
 * Stream kind for the rounds in which the service burns the tokens that it owes. A mint has at most one open round, and
 * a round must not burn more than is owed.
 */

const round = { round: z.int(), mint: z.string() }
/** Amounts that the round burns for each endpoint, in base units. */
const parts = z.array(z.strictObject({ baseUnits, endpoint: z.string() }))

const submitted = bodyOf('BurnSubmitted', {
  ...round,
  parts,
  throughPosition: z.int(),
  burnBaseUnits: baseUnits,
  // State of the delegate account before the burn. The burn job compares it with the later state to prove that the burn
  // did not land.
  delegate: z.strictObject({ allowanceBaseUnits: baseUnits, lamports: baseUnits }).optional(),
  lastValidHeight: z.int().optional(),
  transactionBase64: z.string(),
})
const confirmed = bodyOf('BurnConfirmed', { ...round, parts, burnedBaseUnits: baseUnits, slot: z.int() })
const failed = bodyOf('BurnFailed', { ...round, reason: z.enum(['absent', 'failed']), finalizedSlot: z.int() })

interface BurnRound {
  readonly stream: string
  readonly mint: string
  readonly round: number
  readonly position: number
  readonly throughPosition: number
  readonly burnBaseUnits: bigint
  readonly parts: string
  end?: 'confirmed' | 'failed'
}

const rounds = new StateDocument('burnRounds', () => new Map<string, BurnRound>())

export function burnRoundsOf(state: AuditState): readonly BurnRound[] {
  return [...rounds.of(state).values()]
}

const step = { writer: 'burner' } as const

export const burn: AuditedKind = {
  kind: 'burn',
  ...solanaId,
  steps: [
    declareStep({ ...step, step: 'burn.submit', to: 'submitted', events: ['BurnSubmitted'] }),
    declareStep({
      ...step,
      step: 'burn.confirm',
      from: 'submitted',
      to: 'confirmed',
      events: ['BurnConfirmed'],
      moves: ['burn_owed>wallet', 'burned>burned_by_callers'],
    }),
    declareStep({ ...step, step: 'burn.fail', from: 'submitted', to: 'failed', events: ['BurnFailed'] }),
  ],
  events: new Map([
    eventOf(submitted, {
      judge: judgeSubmitted,
      signed: ({ transactionBase64, mint, burnBaseUnits }) => {
        return { transactionBase64, burn: { mint, baseUnits: burnBaseUnits } }
      },
    }),
    eventOf(confirmed, {
      // The burn reduces the balance of the payment wallet. Each part is recorded as burned for the endpoint whose
      // callers paid for it.
      postings: (event) => [
        ['Liabilities:BurnOwed', 'Assets:PaymentWallet', event.burnedBaseUnits],
        ...event.parts.map(
          (part) => [`Expenses:Burned:${part.endpoint}`, 'Income:BurnedByCallers', part.baseUnits] as const,
        ),
      ],
      judge: judgeConfirmed,
      onChain: ({ mint, slot, burnedBaseUnits, effectiveAt: leftAtMs }) => {
        return { is: 'change', mint, slot, changeBaseUnits: -burnedBaseUnits, leftAtMs, burnedBaseUnits }
      },
    }),
    // The debts of a failed burn stay owed. A node must confirm that the chain does not have the burn.
    eventOf(failed, { judge: judgeFailed, onChain: ({ finalizedSlot }) => ({ is: 'failed', finalizedSlot }) }),
  ]),
}

function judgeSubmitted(event: z.output<typeof submitted>, { row, position, blame, ledger }: Judged): void {
  const { stream, mint, round, throughPosition, burnBaseUnits } = event
  row.mint = mint
  const earlier = burnRoundsOf(ledger.state).filter((known) => known.mint === mint)
  if (earlier.some((known) => known.round === round)) blame('lifecycle_impossible', `round ${round} is burned already`)
  if (throughPosition >= position) blame('lifecycle_impossible', 'the round reaches beyond its own event')
  const open = earlier.find(({ end }) => end === undefined)
  if (open !== undefined) blame('lifecycle_impossible', `round ${open.round} has not ended`)
  const burned = earlier.filter(({ end }) => end === 'confirmed')
  const passed = Math.max(0, ...burned.map((known) => known.throughPosition))
  if (throughPosition <= passed) blame('lifecycle_impossible', `an earlier round reaches up to position ${passed}`)
  expectWhole(event.parts, burnBaseUnits, blame)
  const owedBaseUnits = -ledger.postings.balanceOf(mint, 'Liabilities:BurnOwed')
  if (burnBaseUnits > owedBaseUnits)
    blame('burn_exceeds', `${burnBaseUnits} are to be burned of ${owedBaseUnits} that are owed`)
  const undeliveredBaseUnits = ledger.postings.balanceOf(mint, 'Assets:TokensToDeliver')
  const deliveredBaseUnits = owedBaseUnits - (undeliveredBaseUnits > 0n ? undeliveredBaseUnits : 0n)
  if (burnBaseUnits <= owedBaseUnits && burnBaseUnits > deliveredBaseUnits)
    blame(
      'tokens_not_delivered',
      `${burnBaseUnits} are to be burned, and the treasury lets ${deliveredBaseUnits} be burned`,
    )
  const parts = describeParts(event.parts)
  rounds.of(ledger.state).set(stream, { stream, mint, round, position, throughPosition, burnBaseUnits, parts })
}

function judgeConfirmed(event: z.output<typeof confirmed>, { blame, ledger }: Judged): void {
  const { stream, mint, round, burnedBaseUnits, parts } = event
  expectWhole(parts, burnedBaseUnits, blame)
  const submitted = rounds.of(ledger.state).get(stream)
  const right = submitted === undefined ? undefined : [submitted.mint, submitted.round, submitted.burnBaseUnits]
  const found = [mint, round, burnedBaseUnits]
  if (right === undefined) blame('burn_differs', 'the burn was never submitted')
  else if (found.join() !== right.join() || submitted?.parts !== describeParts(parts))
    blame('burn_differs', `${found.join(' / ')} is confirmed, and ${right.join(' / ')} was submitted`)
  if (submitted !== undefined) submitted.end = 'confirmed'
  const overburnedBaseUnits = ledger.postings.balanceOf(mint, 'Liabilities:BurnOwed')
  if (overburnedBaseUnits > 0n) blame('burn_exceeds', `${overburnedBaseUnits} more were burned than was owed`)
  for (const { endpoint, baseUnits } of parts) {
    const owedBaseUnits = noteBurnOwed(ledger.state, { mint, endpoint }, -baseUnits)
    if (owedBaseUnits < 0n) blame('burn_exceeds', `${-owedBaseUnits} more were burned for ${endpoint} than was owed`)
  }
}

function judgeFailed({ stream, mint, round }: z.output<typeof failed>, { blame, ledger }: Judged): void {
  const submitted = rounds.of(ledger.state).get(stream)
  if (submitted === undefined || submitted.mint !== mint || submitted.round !== round)
    blame('burn_differs', `round ${round} of ${mint} failed, and another was submitted`)
  else submitted.end = 'failed'
}

function expectWhole(burned: z.output<typeof parts>, wholeBaseUnits: bigint, blame: Blame): void {
  const sumBaseUnits = burned.reduce((total, part) => total + part.baseUnits, 0n)
  if (sumBaseUnits !== wholeBaseUnits)
    blame('burn_differs', `the parts sum to ${sumBaseUnits}, and the burn is ${wholeBaseUnits}`)
}

function describeParts(burned: z.output<typeof parts>): string {
  return burned.map((part) => `${part.endpoint} ${part.baseUnits}`).join(', ')
}
