import { expect, test } from 'vitest'
import { classOf } from '@tollbook/audit/accountClass'
import type { DeclaredStep } from '@tollbook/audit/declaredKind'
import { paymentSteps } from '@tollbook/audit/kinds/paymentSteps'
import {
  allocated,
  burn,
  burnOwed,
  claimed,
  exposed,
  failed,
  type Fields,
  fulfilled,
  listed,
  notExposed,
  over,
  owed,
  price,
  reference,
  type ReplayedLedger,
  required,
  settlement,
  tokensBurned,
  wallet,
  wholePrice,
} from './replayedLedger.ts'

/*
 * The auditor states the lifecycle of a payment twice: as steps, to compare with the rows of the database, and as a
 * rule for each event. Walking the steps shows that every step is possible by the rules, leads to its state, and moves
 * what it says.
 */

/** State on which the fields of the next events depend. */
interface Walk {
  readonly steps: readonly DeclaredStep[]
  readonly state: string
  readonly attempt: number
  /** The payer sent the whole price. */
  readonly isPaidWhole: boolean
}

const { mint, endpoint } = price
const start: Walk = { steps: [], state: '', attempt: 0, isPaidWhole: false }

function after(walk: Walk, step: DeclaredStep): Walk {
  return {
    steps: [...walk.steps, step],
    state: step.to,
    attempt: walk.attempt + Number(step.events.includes('ProofClaimed')),
    isPaidWhole: walk.isPaidWhole || isFirstWithoutBurn(step),
  }
}

function isFirstWithoutBurn({ events }: DeclaredStep): boolean {
  return events.includes('PaymentVerified') && !events.includes('TokensBurned')
}

function fieldsOf(kind: string, before: Walk, step: DeclaredStep): Fields {
  const { state, isPaidWhole } = before
  const exposure = state.endsWith('.final') ? notExposed : exposed
  const isServed = state.startsWith('fulfilled')
  const live = { attempt: before.attempt, attemptId: `attempt_${before.attempt}` }
  const next = { attempt: before.attempt + 1, attemptId: `attempt_${before.attempt + 1}` }
  const held = isPaidWhole && !isServed ? required : owed
  const isDead = state.startsWith('streaming') || step.isAfterLease
  const all: Readonly<Record<string, Fields>> = {
    PaymentSubmitted: { wallet, endpoint, quoteId: null, transactionBase64: 'AA==' },
    PaymentVerified: isFirstWithoutBurn(step) ? wholePrice : settlement(),
    TokensBurned: tokensBurned,
    BurnOwed: burnOwed,
    ProofClaimed: { ...claimed, ...next, ...exposure },
    AnswerStarted: live,
    AnswerBroken: { ...live, ...exposure, bytes: 12, digest: 'ef' },
    RequestFailed: { ...failed, ...live, ...exposure, reason: isDead ? 'lease_expired' : 'no_data' },
    AttemptsExhausted: { attempts: before.attempt },
    RequestFulfilled: { ...fulfilled, ...live },
    DistributionAllocated: allocated,
    PaymentFinalized: { slot: 100, ...(isServed ? exposed : notExposed) },
    PaymentReversed: {
      reason: 'absent',
      finalizedSlot: 500,
      wallet,
      endpoint,
      ...(isServed ? exposed : notExposed),
      unearnedBaseUnits: isServed ? '0' : String(held),
      lostBaseUnits: isServed ? String(held) : '0',
      overpaidBaseUnits: String(over),
      burnOwedBaseUnits: isPaidWhole && isServed ? String(burn) : '0',
    },
    BurnReversed: tokensBurned,
    RefundDue: { wallet, mint, refundBaseUnits: String(held) },
    TransferReceived: { wallet, mint, receivedBaseUnits: '400', slot: 700 },
  }
  return all[kind] ?? {}
}

/** Every lease has ended before the next step. */
const longerThanLeaseMs = 120_000

function replayOf({ steps }: Walk): ReplayedLedger {
  const ledger = listed()
  let before = start
  for (const step of steps) {
    const events = step.events.map((kind) => [kind, fieldsOf(kind, before, step)] as const)
    ledger.wait(longerThanLeaseMs).append(reference, ...events)
    before = after(before, step)
  }
  return ledger
}

function mayTake({ state, isPaidWhole }: Walk, { from, events }: DeclaredStep): boolean {
  if (from !== state) return false
  if (events.includes('PaymentReversed')) return events.includes('BurnReversed') !== isPaidWhole
  if (events.includes('RequestFulfilled')) return events.includes('BurnOwed') === isPaidWhole
  return true
}

/** For each step one walk to it with each kind of burn before it, the shortest first. */
function walkAll(): ReadonlyMap<DeclaredStep, readonly Walk[]> {
  const walks = new Map<DeclaredStep, Walk[]>()
  const seen = new Set<string>()
  const open = [start]
  for (let walk = open.shift(); walk !== undefined; walk = open.shift()) {
    const key = `${walk.state} ${walk.isPaidWhole}`
    if (seen.has(key)) continue
    seen.add(key)
    for (const step of paymentSteps.filter((candidate) => walk !== undefined && mayTake(walk, candidate))) {
      const next = after(walk, step)
      walks.set(step, [...(walks.get(step) ?? []), next])
      open.push(next)
    }
  }
  return walks
}

const walks = walkAll()

test('every step of a payment can be reached from its beginning', () => {
  expect(paymentSteps.filter((step) => !walks.has(step))).toEqual([])
})

test.each([...walks].map(([step, ways]) => [step.step, step.from, step.events.join(), { step, ways }] as const))(
  '%s from "%s" with %s follows the rules, ends in its state and moves what it declares',
  (_, __, ___, { step, ways }) => {
    const moved = ways.flatMap((walk) => {
      const ledger = replayOf(walk)
      expect(ledger.findings()).toEqual([])
      expect(ledger.replay.streams.find(reference)?.state).toBe(step.to)
      const moves = ledger.events.slice(-step.events.length).flatMap(({ postings }) => postings())
      return moves.map(([debit, credit]) => `${classOf(debit)?.class}>${classOf(credit)?.class}`)
    })
    expect([...new Set(moved)].toSorted()).toEqual(step.moves.toSorted())
  },
)
